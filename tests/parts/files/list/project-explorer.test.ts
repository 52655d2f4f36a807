import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ProjectExplorer } from '../../../../src/files/project-explorer.js';
import { tempFolder } from '../../../harness/temp-folder.js';
import { explorerOf, git, never, writeTree } from '../../../files/explorer.js';
import { rounds } from '../../../harness/rounds.js';
import { refusal } from '../../../harness/refusal.js';

const run = promisify(execFile);
const MAX_LIST_BYTES = 400_000;
const OPEN_MODE = 0o755;
const NOBODY = 65_534;

async function names(explorer: ProjectExplorer, path: string, depth = 5): Promise<string[]> {
  const page = await explorer.list({ path, depth, maxBytes: MAX_LIST_BYTES }, never);
  expect(page.cursor).toBeUndefined();
  return page.entries.map(({ name }) => name);
}

describe('a listing', () => {
  test('links are shown with their target and never followed, special files as other', async () => {
    const root = await tempFolder();
    const outside = await tempFolder();
    await writeTree(outside, { 'secret.txt': '' });
    await symlink(outside, join(root, 'link'));
    await symlink('missing', join(root, 'dangling'));
    await run('mkfifo', [join(root, 'pipe')]);
    const page = await explorerOf(root).list({ path: root, depth: 5 }, never);
    expect(page.entries).toEqual([
      { name: 'dangling', type: 'symlink', target: 'missing' },
      { name: 'link', type: 'symlink', target: outside },
      { name: 'pipe', type: 'other' },
    ]);
  });

  test('an unreadable folder is marked, the others are shown', async () => {
    const root = await tempFolder();
    await writeTree(root, { 'closed/x': '', 'open/y': '' });
    await chmod(root, OPEN_MODE);
    await chmod(join(root, 'closed'), 0);
    onTestFinished(() => chmod(join(root, 'closed'), OPEN_MODE));
    if (process.getuid?.() === 0) {
      // To root every folder is readable, and its temp folder is closed to others.
      await chmod(dirname(root), OPEN_MODE);
      process.seteuid?.(NOBODY);
      onTestFinished(() => process.seteuid?.(0));
    }
    const page = await explorerOf(root).list({ path: root, depth: 2 }, never);
    expect(page.entries.map(({ name, note }) => [name, note])).toEqual([
      ['closed', 'unreadable: EACCES'],
      ['open', undefined],
      ['open/y', undefined],
    ]);
  });

  test('of names shows files and folders as names, and special entries and folders with notes in full', async () => {
    const root = await tempFolder();
    await writeTree(root, {
      'a.log': '',
      'src/main.ts': 'x',
      'vendor/y': '',
      '.gitignore': '*.log\n',
      'né w\n': '',
    });
    await git(join(root, 'vendor'), 'init', '-q');
    await git(root, 'init', '-q');
    await symlink('src', join(root, 'link'));
    await run('mkfifo', [join(root, 'pipe')]);
    const page = await explorerOf(root).names({ path: root, depth: 2 }, never);
    expect(page).toEqual({
      path: root,
      names: ['src/', 'src/main.ts', 'né w\n'],
      entries: [
        { name: 'vendor', type: 'directory', note: 'repository' },
        { name: 'link', type: 'symlink', target: 'src' },
        { name: 'pipe', type: 'other' },
      ],
      note: 'left out: 1 ignored, 1 hidden; ignored: true shows them',
    });
    expect(await explorerOf(root).names({ path: join(root, 'src') }, never)).toEqual({
      path: join(root, 'src'),
      names: ['main.ts'],
    });
  });

  test('the pages of a listing together contain every entry once, even when entries change meanwhile', async () => {
    const root = await tempFolder();
    const files: Record<string, string> = {};
    for (let folder = 0; folder < 6; folder++)
      for (let file = 0; file < 30; file++) files[`d${folder}/s${file % 3}/file-${file}`] = '';
    await writeTree(root, files);
    const explorer = explorerOf(root);
    const whole = await names(explorer, root);
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await explorer.list({ path: root, depth: 5, cursor, maxBytes: 1_000 }, never);
      seen.push(...page.entries.map(({ name }) => name));
      expect(page.cursor === undefined).toBe(page.more === undefined);
      cursor = page.cursor;
      if (pages++ === 1) await writeFile(join(root, 'd0', 'new'), '');
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(5);
    expect(seen).toEqual(whole);
  });

  test('an invalid cursor is refused', async () => {
    const root = await tempFolder();
    const explorer = explorerOf(root);
    for (const cursor of ['', 'x', Buffer.from('{"p":[]}').toString('base64url')])
      expect(await refusal(explorer.list({ path: root, cursor }, never))).toMatch(/^INVALID_ARGUMENTS: /);
  });

  test('a folder of very many entries returns a page and counts the rest', async () => {
    const root = await tempFolder();
    const COUNT = rounds(100_000);
    await run('sh', ['-c', `seq -f entry-%.0f ${COUNT} | xargs touch`], { cwd: root });
    const page = await explorerOf(root).list({ path: root }, never);
    expect(page.entries.length + (page.more ?? 0)).toBe(COUNT);
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(20_000);
    // Here, where there is time for it.
    await run('rm', ['-r', root]);
  }, 120_000);
});

describe('in a repository', () => {
  test('git decides: nested files, negation, info/exclude, tracked files that a rule matches', async () => {
    const root = await tempFolder();
    await git(root, 'init', '-q');
    await writeTree(root, {
      '.gitignore': '*.log\n!keep.log\nbuild/\n/top\n',
      'a.log': '',
      'keep.log': '',
      top: '',
      'sub/top': '',
      'sub/.gitignore': '!b.log\n',
      'sub/b.log': '',
      'build/out': '',
      'build/tracked': '',
      excluded: '',
      'empty/': '',
      ':(top)x': '',
      'nested/.git/HEAD': '',
      'nested/in': '',
      'mine.txt': '',
    });
    await writeFile(join(root, '.git', 'info', 'exclude'), 'excluded\n');
    await git(root, 'add', '-f', 'build/tracked');
    expect(await names(explorerOf(root), root)).toEqual([
      'build',
      'build/tracked',
      'empty',
      'nested',
      'sub',
      'sub/b.log',
      'sub/top',
      ':(top)x',
      'keep.log',
      'mine.txt',
    ]);
    expect(await names(explorerOf(root), join(root, 'sub'))).toEqual(['b.log', 'top']);
  });

  test('a repository below a plain folder keeps its own rules', async () => {
    const root = await tempFolder();
    await mkdir(join(root, 'repo'));
    await git(join(root, 'repo'), 'init', '-q');
    await writeTree(root, {
      'repo/.gitignore': 'out\n',
      'repo/out': '',
      'repo/in': '',
      'repo/forced/out': '',
      out: '',
    });
    await git(join(root, 'repo'), 'add', '-f', 'forced/out');
    expect(await names(explorerOf(root), root)).toEqual([
      'repo',
      'repo/forced',
      'repo/forced/out',
      'repo/in',
      'out',
    ]);
  });
});
