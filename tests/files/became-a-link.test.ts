import { chmod, mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ProjectExplorer } from '../../src/files/project-explorer.js';
import { findProgram } from '../../src/pty/find-program.js';
import { tempFolder } from '../config/temp-folder.js';
import { explorerOf, git, never, writeTree } from './explorer.js';

/** A git that puts a link in the place of the folder `a` as soon as it is asked about a file in it, `times` times. */
const shim = (times: number, [realGit, a, away, outside]: readonly string[]) => `#!${process.execPath}
const { spawn } = require('node:child_process');
const { appendFileSync, existsSync, readFileSync, renameSync, symlinkSync, unlinkSync } = require('node:fs');
const [realGit, a, away, outside] = ${JSON.stringify([realGit, a, away, outside])};
const swaps = away + '.swaps';
const child = spawn(realGit, process.argv.slice(2), { stdio: ['pipe', 'inherit', 'inherit'] });
const isAsked = process.argv.includes('check-ignore');
let isSwapped = false;
process.stdin.on('data', (chunk) => {
  const count = existsSync(swaps) ? readFileSync(swaps).length : 0;
  if (isAsked && chunk.includes('./a/') && count < ${times}) {
    appendFileSync(swaps, '.');
    renameSync(a, away);
    symlinkSync(outside, a);
    isSwapped = true;
  }
  child.stdin.write(chunk);
});
process.stdin.on('end', () => child.stdin.end());
child.stdin.on('error', () => undefined);
child.on('exit', (code) => {
  // The last time it stays.
  if (isSwapped && readFileSync(swaps).length < ${times}) {
    unlinkSync(a);
    renameSync(away, a);
  }
  process.exit(code ?? 1);
});
`;

interface Place {
  readonly root: string;
  readonly outside: string;
  /** How often the folder became a link. */
  readonly swaps: () => Promise<number>;
  readonly explorer: ProjectExplorer;
}

async function place(times: number): Promise<Place> {
  const folder = await tempFolder();
  const [root, outside, bin] = ['project', 'outside', 'bin'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [root, outside, bin]) await mkdir(made);
  await git(root, 'init', '-q');
  await writeTree(root, { 'a/one.txt': 'needle', 'b/two.txt': 'needle', 'top.txt': 'needle' });
  await writeTree(outside, { 'one.txt': 'needle, a secret' });
  const path = process.env['PATH'] ?? '';
  const realGit = await findProgram('git', '/', { PATH: path });
  await writeFile(join(bin, 'git'), shim(times, [realGit, join(root, 'a'), join(folder, 'away'), outside]));
  await chmod(join(bin, 'git'), 0o755);
  const surroundings = { path: `${bin}:${path}`, homeDir: folder, xdgConfigHome: undefined };
  const swaps = async (): Promise<number> => (await readFile(join(folder, 'away.swaps'))).length;
  return {
    root,
    outside,
    swaps,
    explorer: explorerOf(root, 3, undefined, undefined, undefined, surroundings),
  };
}

describe('a folder that becomes a link behind the look at it', () => {
  test('is passed by in a search, as any link is', async () => {
    const { root, outside, explorer } = await place(1);
    const { matches } = await explorer.search({ path: root, query: 'needle' }, never);
    expect(await readlink(join(root, 'a'))).toBe(outside);
    expect(matches.map(({ path }) => path)).toEqual(['b/two.txt', 'top.txt']);
  });

  test('is shown as a link in a listing', async () => {
    const { root, outside, explorer } = await place(1);
    const { entries } = await explorer.list({ path: root }, never);
    expect(entries.map(({ name }) => name)).toEqual(['b', 'b/two.txt', 'a', 'top.txt']);
    expect(entries).toContainEqual(expect.objectContaining({ name: 'a', type: 'symlink', target: outside }));
  });

  test('is shown as a link among names and in a tree', async () => {
    const one = await place(1);
    expect(await one.explorer.names({ path: one.root }, never)).toMatchObject({
      names: ['b/', 'b/two.txt', 'top.txt'],
      entries: [{ name: 'a', type: 'symlink' }],
    });
    const other = await place(1);
    const { tree } = await other.explorer.tree({ path: other.root }, never);
    expect(tree).toContain(`a -> ${other.outside}`);
    expect(tree).not.toContain('one.txt');
  });

  test('and back again all the time is told in the words of git, after three looks', async () => {
    const { root, explorer, swaps } = await place(9);
    await expect(explorer.search({ path: root, query: 'needle' }, never)).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: expect.stringContaining('beyond a symbolic link') as unknown,
    });
    expect(await swaps()).toBe(3);
  });

  test('twice is looked at a third time', async () => {
    const { root, explorer } = await place(2);
    const { matches } = await explorer.search({ path: root, query: 'needle' }, never);
    expect(matches.map(({ path }) => path)).toEqual(['b/two.txt', 'top.txt']);
  });
});
