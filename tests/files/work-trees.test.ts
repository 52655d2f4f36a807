import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explorerOf, git, never, plainGit, writeTree } from './explorer.js';
import { WorkTrees } from '../../src/files/work-trees.js';
import { tempFolder } from '../config/temp-folder.js';

/** An environment in which git, when it is asked, says no to everything. */
const noGit = { ...plainGit, GIT_CEILING_DIRECTORIES: '/', GIT_DIR: '/nonexistent' };

async function repository(): Promise<string> {
  const root = await tempFolder();
  await git(root, 'init', '-q');
  await writeTree(root, { 'sub/a.txt': '', '.gitignore': '*.log\n', 'b.log': '' });
  return root;
}

function run(cwd: string, env = plainGit) {
  return { cwd, env, signal: never };
}

describe('a folder that git took for part of a work tree', () => {
  it('is one without asking again, until something that git looked at changes', async () => {
    const root = await repository();
    const sub = join(root, 'sub');
    const trees = new WorkTrees();
    expect(await trees.has(run(sub), sub)).toBe(true);
    expect(await trees.has(run(sub, noGit), sub)).toBe(true);
    await writeFile(join(root, '.git', 'config'), '[core]\n\tbare = false\n');
    expect(await trees.has(run(sub, noGit), sub)).toBe(false);
    expect(await trees.has(run(sub), sub)).toBe(true);
  });

  it('is asked about again when it is to be forgotten', async () => {
    const root = await repository();
    const trees = new WorkTrees();
    expect(await trees.has(run(root), root)).toBe(true);
    trees.forget();
    expect(await trees.has(run(root, noGit), root)).toBe(false);
  });

  it('is none any more when its repository is gone, and one again when it is back', async () => {
    const root = await repository();
    const trees = new WorkTrees();
    expect(await trees.has(run(root), root)).toBe(true);
    await rename(join(root, '.git'), join(root, 'away'));
    expect(await trees.has(run(root), root)).toBe(false);
    await rename(join(root, 'away'), join(root, '.git'));
    expect(await trees.has(run(root), root)).toBe(true);
  });

  it('is asked about each time where the repository lies elsewhere', async () => {
    const root = await repository();
    const elsewhere = join(await tempFolder(), 'tree');
    await git(root, 'add', '-A');
    await git(root, 'commit', '-q', '-m', 'base');
    await git(root, 'worktree', 'add', '-q', elsewhere);
    const trees = new WorkTrees();
    expect(await trees.has(run(elsewhere), elsewhere)).toBe(true);
    expect(await trees.has(run(elsewhere, noGit), elsewhere)).toBe(false);
  });
});

it('a listing follows when git takes a folder for no repository any more, whatever told of it before', async () => {
  const root = await repository();
  const explorer = explorerOf(root);
  const shown = async () => {
    const { entries } = await explorer.list({ path: root }, never);
    return entries.map(({ name }) => name);
  };
  expect(await shown()).toEqual(['sub']);
  expect(await shown()).toEqual(['sub']);
  await rm(join(root, '.git', 'objects'), { recursive: true });
  await utimes(join(root, '.git'), 1, 1);
  expect(await shown()).toEqual(['sub']);
});
