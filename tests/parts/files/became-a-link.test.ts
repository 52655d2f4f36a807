import { rgPath } from '@vscode/ripgrep';
import { existsSync } from 'node:fs';
import { mkdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ProjectExplorer } from '../../../src/files/project-explorer.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { explorerOf, git, never, writeTree } from '../../files/explorer.js';
import { onPath } from '../../harness/need-table.js';

interface Swap {
  /** The program that is wrapped, and an argument of the runs that count. */
  readonly program: 'git' | 'rg';
  readonly argument: string;
  /** True to put the folder back when the program has ended. */
  readonly isUndone: boolean;
}

/** A program that replaces the folder `a` by a link for its own first run, and follows links, as if it had opened it before. */
const shim = (
  { argument, isUndone }: Swap,
  [real, a, away, outside]: readonly string[],
) => `#!${process.execPath}
const { spawn } = require('node:child_process');
const { existsSync, renameSync, symlinkSync, unlinkSync, writeFileSync } = require('node:fs');
const [real, a, away, outside] = ${JSON.stringify([real, a, away, outside])};
const swapped = away + '.swapped';
const isSwap = process.argv.includes('${argument}') && !existsSync(swapped);
if (isSwap) {
  writeFileSync(swapped, '');
  renameSync(a, away);
  symlinkSync(outside, a);
}
spawn(real, process.argv.slice(2).map((one) => (one === '--no-follow' ? '--follow' : one)), { stdio: 'inherit' }).on('exit', (code) => {
  if (isSwap && ${isUndone}) {
    unlinkSync(a);
    renameSync(away, a);
  }
  process.exit(code ?? 1);
});
`;

interface Place {
  readonly root: string;
  readonly outside: string;
  readonly isSwapped: () => boolean;
  readonly explorer: ProjectExplorer;
}

async function place(swap: Swap): Promise<Place> {
  const folder = await tempFolder();
  const [root, outside, bin] = ['project', 'outside', 'bin'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [root, outside, bin]) await mkdir(made);
  await git(root, 'init', '-q');
  await writeTree(root, { 'a/one.txt': 'needle', 'b/two.txt': 'needle', 'top.txt': 'needle' });
  await writeTree(outside, { 'one.txt': 'needle, a secret', 'needle-secret.txt': 'needle' });
  const path = process.env['PATH'] ?? '';
  const isOfGit = swap.program === 'git';
  const real = isOfGit ? (onPath('git') ?? '') : rgPath;
  const text = shim(swap, [real, join(root, 'a'), join(folder, 'away'), outside]);
  await writeFile(join(bin, swap.program), text, { mode: 0o755 });
  const host = { path: `${bin}:${path}`, homeDir: folder, xdgConfigHome: undefined };
  const isSwapped = (): boolean => existsSync(join(folder, 'away.swapped'));
  const ripgrep = isOfGit ? rgPath : join(bin, 'rg');
  const explorer = explorerOf(root, { defaultDepth: 3, host, ripgrep });
  return { root, outside, isSwapped, explorer };
}

const whileGitLists: Swap = { program: 'git', argument: 'ls-files', isUndone: false };

describe('a folder that becomes a link after it was checked', () => {
  test('is skipped in a search, like any link', async () => {
    const { root, outside, explorer } = await place(whileGitLists);
    const { matches } = await explorer.search({ path: root, query: 'needle' }, never);
    expect(await readlink(join(root, 'a'))).toBe(outside);
    expect(matches.map(({ path }) => path)).toEqual(['b/two.txt', 'top.txt']);
  });

  test('is shown as a link among names and in a tree', async () => {
    const one = await place(whileGitLists);
    expect(await one.explorer.names({ path: one.root }, never)).toMatchObject({
      names: ['b/', 'b/two.txt', 'top.txt'],
      entries: [{ name: 'a', type: 'symlink', target: one.outside }],
    });
    const other = await place(whileGitLists);
    const { tree } = await other.explorer.tree({ path: other.root }, never);
    expect(tree).toContain(`a -> ${other.outside}`);
    expect(tree).not.toContain('one.txt');
  });

  test('while ripgrep searches: nothing that it read through the link is shown', async () => {
    const { root, isSwapped, explorer } = await place({ program: 'rg', argument: '--json', isUndone: false });
    const page = await explorer.search({ path: root, query: 'needle' }, never);
    expect(isSwapped()).toBe(true);
    expect(page.matches.map(({ path }) => path)).toEqual(['b/two.txt', 'top.txt']);
    expect(JSON.stringify(page)).not.toContain('secret');
  });
});
