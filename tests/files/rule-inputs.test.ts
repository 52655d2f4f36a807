import { appendFile, mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ruleInputs, type RuleInputs } from '../../src/files/rule-inputs.js';
import { askingEnvironment } from '../../src/git/git-environment.js';
import { tempFolder } from '../config/temp-folder.js';
import { git, never, writeTree } from './explorer.js';

const LATER_MS = 60_000;
const later = (): number => Date.now() + LATER_MS;

interface Place {
  /** The folder in which something is to be judged, two below the top of its repository. */
  readonly folder: string;
  readonly top: string;
  readonly home: string;
  readonly inputs: (nowMs?: number) => Promise<RuleInputs | undefined>;
}

async function place(): Promise<Place> {
  const above = await tempFolder();
  const [top, home] = [join(above, 'top'), join(above, 'home')];
  await writeTree(above, {
    'top/a/b/file': '',
    'top/.gitignore': 'x\n',
    'home/.gitconfig': '[core]\n\texcludesFile = ~/rules\n',
    'home/rules': 'y\n',
  });
  await git(top, 'init', '-q');
  const env = askingEnvironment({ path: process.env['PATH'], homeDir: home, xdgConfigHome: undefined });
  const folder = join(top, 'a/b');
  const inputs = (nowMs = later()) => ruleInputs(folder, { cwd: folder, env, signal: never }, nowMs);
  return { folder, top, home, inputs };
}

const changes: Readonly<Record<string, (place: Place) => Promise<unknown>>> = {
  'an ignore file of the repository': ({ top }) => appendFile(join(top, '.gitignore'), 'z\n'),
  'an ignore file between': ({ top }) => writeFile(join(top, 'a/.gitignore'), 'z\n'),
  'an ignore file in the folder itself': ({ folder }) => writeFile(join(folder, '.gitignore'), 'z\n'),
  'the repository’s own rules': ({ top }) => appendFile(join(top, '.git/info/exclude'), 'z\n'),
  'the repository’s settings': ({ top }) => git(top, 'config', 'core.ignoreCase', 'true'),
  'the settings of this work tree': ({ top }) => writeFile(join(top, '.git/config.worktree'), ''),
  'which branch is checked out': ({ top }) => git(top, 'symbolic-ref', 'HEAD', 'refs/heads/other'),
  'the user’s settings': ({ home }) => appendFile(join(home, '.gitconfig'), '[a]\n\tb = c\n'),
  'the user’s other settings': ({ home }) => writeTree(home, { '.config/git/config': '' }),
  'the user’s usual ignore file': ({ home }) => writeTree(home, { '.config/git/ignore': 'z\n' }),
  'the ignore file that a setting names': ({ home }) => writeFile(join(home, 'rules'), 'z\n'),
  'that ignore file, by a link': async ({ home }) => {
    await rename(join(home, 'rules'), join(home, 'real'));
    await symlink('real', join(home, 'rules'));
  },
  'a repository between': ({ top }) => mkdir(join(top, 'a/.git')),
  'that there is one': ({ top }) => rename(join(top, '.git'), join(top, 'git')),
};

describe('what git reads to judge what is in a folder', () => {
  test('is the same as long as nothing of it changes', async () => {
    const { folder, home, inputs } = await place();
    const before = await inputs();
    await writeFile(join(folder, 'another'), '');
    await writeFile(join(home, 'another'), '');
    expect(before?.isSame()).toBe(true);
  });

  test.each(Object.keys(changes))('is not the same any more: %s', async (change) => {
    const at = await place();
    const before = await at.inputs();
    await changes[change]?.(at);
    expect(before?.isSame()).toBe(false);
  });

  test('is seen through a link', async () => {
    const at = await place();
    await rename(join(at.home, 'rules'), join(at.home, 'real'));
    await symlink('real', join(at.home, 'rules'));
    const before = await at.inputs();
    await appendFile(join(at.home, 'real'), 'z\n');
    expect(before?.isSame()).toBe(false);
  });

  test('cannot be told of what was changed a moment ago', async () => {
    const { home, inputs } = await place();
    const { ctimeMs } = await stat(join(home, 'rules'));
    expect(await inputs(ctimeMs + 1_999)).toBeUndefined();
  });

  test.each([
    ['settings that include others', '[include]\n\tpath = more\n'],
    ['settings that include others here and there', '[includeIf "gitdir:~/"]\n\tpath = more\n'],
    ['an ignore file without a place of its own', '[core]\n\texcludesFile = rules\n'],
  ])('cannot be told with %s', async (_name, settings) => {
    const { home, inputs } = await place();
    await writeFile(join(home, '.gitconfig'), settings);
    expect(await inputs()).toBeUndefined();
  });

  test('cannot be told where the repository lies elsewhere', async () => {
    const { top, inputs } = await place();
    await rename(join(top, '.git'), join(top, '../git'));
    await writeFile(join(top, '.git'), 'gitdir: ../git\n');
    expect(await inputs()).toBeUndefined();
  });

  test('is told of where git cannot read its settings', async () => {
    const { home, inputs } = await place();
    await writeFile(join(home, '.gitconfig'), '[broken\n');
    expect(await inputs()).toBeUndefined();
  });
});

describe('whether anything changed while git was asked', () => {
  test('is known, also when it was changed back', async () => {
    const { top, inputs } = await place();
    const before = await inputs();
    const isUnchanged = before?.watched(later());
    expect(isUnchanged?.()).toBe(true);
    await writeFile(join(top, 'a/.gitignore'), 'file\n');
    await rm(join(top, 'a/.gitignore'));
    expect(before?.isSame()).toBe(true);
    expect(isUnchanged?.()).toBe(false);
  });

  test('cannot be known where it was changed shortly before', async () => {
    const { top, inputs } = await place();
    const before = await inputs();
    const { ctimeMs } = await stat(join(top, 'a'));
    expect(before?.watched(ctimeMs + 1_999)()).toBe(false);
  });
});
