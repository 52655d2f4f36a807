import { readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RulesOfGit } from '../../src/files/ignored-by-git.js';
import { JudgedFolders } from '../../src/files/judged-folders.js';
import { VisibleInRepository } from '../../src/files/search-visible.js';
import { Verdicts } from '../../src/files/verdicts.js';
import { tempFolder } from '../config/temp-folder.js';
import { git, never, plainGit, writeTree } from './explorer.js';

/** More than git is asked about at once. */
const FILES = 40_000;
/** More than are asked about before an answer is waited for, and not too many to be kept. */
const FEWER = 19_000;
const LATER_MS = 60_000;
const hasDescriptorPaths = process.platform === 'linux';

async function repository(): Promise<{ rules: RulesOfGit; visible: VisibleInRepository; root: string }> {
  const root = await tempFolder();
  await git(root, 'init', '-q');
  await writeTree(root, {
    '.gitignore': 'f*7\n',
    'd3/.gitignore': '*\n!*5\n',
    'd4/f17': '',
    'in/side/f1': '',
  });
  await git(root, 'add', '-f', 'd4/f17');
  await git(join(root, 'in/side'), 'init', '-q');
  await git(join(root, 'in/side'), 'add', 'f1');
  const run = { cwd: root, env: plainGit, signal: never };
  const rules = new RulesOfGit(run, 5_000, true);
  return { rules, visible: new VisibleInRepository(rules, run, hasDescriptorPaths), root };
}

/** The processes that work in the folder; another test of this process may still have one elsewhere. */
async function processesIn(folder: string): Promise<readonly string[]> {
  if (!hasDescriptorPaths) return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // Gone meanwhile, or not ours to look at.
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)));
  return pids.filter((_, index) => places[index] === folder);
}

const paths = Array.from({ length: FILES }, (_, index) => `d${index % 9}/f${index}`).sort();

describe('what git would list of thousands of files', () => {
  test('comes in order, without what a rule hits and with what is tracked all the same', async () => {
    const { rules, visible, root } = await repository();
    const shown: string[] = [];
    for await (const part of visible.among([...paths, 'in/side/f1', 'in/side/f2', 'top']))
      shown.push(...part);
    await rules.close();
    const ignored = (path: string): boolean =>
      path.startsWith('d3/') ? !path.endsWith('5') : path.endsWith('7') && path !== 'd4/f17';
    const nested = (await git(root, 'ls-files', '-co', '--', 'in/side/')).split('\n').includes('in/side/f1');
    expect(shown).toEqual([
      ...paths.filter((path) => !ignored(path)),
      ...(nested ? ['in/side/f1'] : []),
      'top',
    ]);
  });

  test('comes part by part, and who needs no more of it stops git', async () => {
    const { rules, visible, root } = await repository();
    for await (const part of visible.among(paths)) {
      expect(hasDescriptorPaths && (await processesIn(root)).length === 0).toBe(false);
      expect(part[0]).toBe(paths[0]);
      expect(part.length).toBeLessThan(paths.length / 2);
      break;
    }
    await rules.close();
    expect(await processesIn(root)).toEqual([]);
  });

  test('comes also where git is asked about one of thousands, and keeps its answer until it is asked no more', async () => {
    const { rules, root } = await repository();
    const folders = new JudgedFolders((await stat(root)).dev, () => Date.now() + LATER_MS);
    const known = Array.from({ length: FEWER }, (_, index) => `f${String(index).padStart(5, '0')}`);
    for (const name of known) folders.keep(folders.first, name, false);
    const run = { cwd: root, env: plainGit, signal: never };
    const verdicts = new Verdicts(folders, Date.now(), () => true);
    const visible = new VisibleInRepository(rules, run, hasDescriptorPaths, verdicts);
    const shown: string[] = [];
    for await (const part of visible.among(['d4/f27', 'd4/f28', ...known])) shown.push(...part);
    expect(shown).toEqual(['d4/f28', ...known]);
    await rules.close();
  });

  test('is an error with the words of git when git fails', async () => {
    const root = await tempFolder();
    const run = { cwd: root, env: plainGit, signal: never };
    const rules = new RulesOfGit(run, 5_000, true);
    const reading = (async () => {
      for await (const part of new VisibleInRepository(rules, run, hasDescriptorPaths).among(['a']))
        void part;
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: expect.stringContaining('not a git repository') as unknown,
    });
    await rules.close();
  });
});
