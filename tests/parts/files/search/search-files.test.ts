import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { BridgeError } from '../../../../src/base/errors.js';
import type { SearchQuery } from '../../../../src/files/search/search-query.js';
import { tempFolder } from '../../../harness/temp-folder.js';
import { explorerOf, git, never, writeTree } from '../../../files/explorer.js';

const LEFT_OUT = 'Left out: 1 ignored; ignored: true shows them.';

const run = promisify(execFile);

describe.each([true, false])('searching in a repository: %s', (isRepository) => {
  async function folder(files: Readonly<Record<string, string>>): Promise<string> {
    const root = await tempFolder();
    await writeTree(root, files);
    if (isRepository) await git(root, 'init', '-q');
    return root;
  }

  async function found(root: string, query: SearchQuery): Promise<string[]> {
    const explorer = explorerOf(root);
    const page = await explorer.search({ path: root, ...query }, never);
    return page.matches.map(({ path, line, column, text }) =>
      line === undefined ? path : `${path}:${line}:${column}:${text}`,
    );
  }

  test('lines are sorted by path, then line, with the column of the first match', async () => {
    const root = await folder({
      'b.txt': 'one\nfoo foo\r\nxfoo',
      'a/z.txt': '\ufefffoo\n',
      'A.txt': 'no',
      '.hidden': 'foo',
      '.claude/x': 'foo',
      '.gitignore': 'out/\n*.log\n!keep.log\n',
      'out/x': 'foo',
      'x.log': 'foo',
      'keep.log': 'foo',
      binary: 'foo\0',
      'é n.txt': 'é foo',
    });
    await symlink('b.txt', join(root, 'link'));
    await run('mkfifo', [join(root, 'pipe')]);
    expect(await found(root, { query: 'foo' })).toEqual([
      '.claude/x:1:1:foo',
      '.hidden:1:1:foo',
      'a/z.txt:1:1:foo',
      'b.txt:2:1:foo foo',
      'b.txt:3:2:xfoo',
      'keep.log:1:1:foo',
      'é n.txt:1:3:é foo',
    ]);
    expect(await found(root, { query: 'foo', glob: '*.{txt,md}' })).toHaveLength(4);
    expect(await found(root, { query: 'foo', glob: '!*.txt' })).toHaveLength(3);
    expect(await found(root, { query: 'txt', names: true })).toEqual([
      'A.txt',
      'a/z.txt',
      'b.txt',
      'é n.txt',
    ]);
    // Composed and combining characters look the same.
    expect(await found(root, { query: 'e\u0301 N', names: true })).toEqual([]);
    expect(await found(root, { query: 'e\u0301 n', names: true })).toEqual(['é n.txt']);
    expect(await found(root, { query: 'nothing' })).toEqual([]);
  });

  test('secret files are named, not searched; their names can be searched', async () => {
    const root = await folder({
      'a.txt': 'swordfish',
      '.env': 'PASSWORD=swordfish',
      '.github/ci.yml': 'swordfish',
      '.npmrc': 'token=other',
      'config/credentials.json': 'swordfish',
      'secrets/plain.txt': 'swordfish',
    });
    if (isRepository) {
      await git(root, 'add', '.');
      // Tracked, and hit by a rule: git shows it.
      await writeTree(root, { '.gitignore': '.env\n' });
    }
    const explorer = explorerOf(root);
    const search = (more: Partial<SearchQuery>) =>
      explorer.search({ path: root, query: 'swordfish', ...more }, never);
    const { matches, note } = await search({});
    expect(matches.map(({ path }) => path)).toEqual(['.github/ci.yml', 'a.txt']);
    expect(note).toBe(
      'Not searched because their names suggest secrets: .env, .npmrc, config/credentials.json, secrets/plain.txt. Use read_file to read one.',
    );
    // Named by a glob, too.
    expect((await search({ glob: '{.env,*.json}' })).matches).toEqual([]);
    expect((await search({ query: 'credentials', names: true })).matches).toHaveLength(1);
    // A folder that the caller names itself is searched.
    expect((await search({ path: join(root, 'secrets') })).matches).toHaveLength(1);
  });

  test('a search goes by what is ignored now, whatever the one before left out, and many run at once', async () => {
    const root = await folder({ 'a/x': 'foo', 'b/x': 'foo', 'c.txt': 'foo' });
    const search = () => explorerOf(root).search({ path: root, query: 'foo' }, new AbortController().signal);
    for (const [rules, shown] of [
      ['a/\nc.txt', ['b/x']],
      ['a/', ['b/x', 'c.txt']],
      ['b/', ['a/x', 'c.txt']],
    ] as const) {
      await writeTree(root, { '.gitignore': rules });
      for (const { matches } of [await search(), ...(await Promise.all(Array.from({ length: 12 }, search)))])
        expect(matches.map(({ path }) => path)).toEqual(shown);
    }
  });

  test('pages together contain every match once, each within its budget', async () => {
    const files: Record<string, string> = {};
    for (let file = 0; file < 12; file++) files[`d/f${file}`] = 'needle here\nhay\n'.repeat(20);
    const root = await folder(files);
    const explorer = explorerOf(root);
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await explorer.search({ path: root, query: 'needle', cursor, maxBytes: 2_000 }, never);
      expect(Buffer.byteLength(JSON.stringify(page.matches))).toBeLessThan(2_100);
      seen.push(...page.matches.map(({ path, line }) => `${path}:${line}`));
      cursor = page.cursor;
      pages++;
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(5);
    expect(new Set(seen).size).toBe(240);
    expect(seen).toHaveLength(240);
  });

  test('context is shown, and long lines are cut around the match', async () => {
    const root = await folder({ 'a.txt': `1\n2\n${'x'.repeat(1_000)}needle${'y'.repeat(1_000)}\n4\n5\n` });
    const page = await explorerOf(root).search({ path: root, query: 'needle', context: 1 }, never);
    const [match] = page.matches;
    expect(match).toMatchObject({ line: 3, column: 1_001, before: ['2'], after: ['4'] });
    expect(match?.text).toMatch(/^…x{100}needley+…$/);
    expect(match?.text?.length).toBe(302);
  });
});

describe('what a search leaves out is reported', () => {
  const search = (root: string, query: Omit<SearchQuery, 'path'>) =>
    explorerOf(root).search({ path: root, ...query }, never);

  test.each([true, false])('in a repository: %s', async (isRepository) => {
    const root = await tempFolder();
    if (isRepository) await git(root, 'init', '-q');
    await writeTree(root, {
      '.github/workflows/ci.yml': 'needle',
      '.eslintrc.json': 'needle',
      '.gitignore': 'out',
      out: 'needle',
      'plain.txt': 'a needle',
      'pixels.bin': '\0\0needle',
      'late.bin': `needle\n\0`,
      'large.log': `needle\n${'x'.repeat(10_000_000)}`,
    });
    await writeFile(join(root, 'wide.txt'), Buffer.from('\ufeffn\u00e4, needle\r\nneedle', 'utf16le'));
    await writeFile(join(root, 'latin.txt'), Buffer.from('n\u00e4, needle', 'latin1'));
    const { matches, note, cursor } = await search(root, { query: 'needle' });
    expect(matches.map(({ path, line, column }) => `${path}:${line}:${column}`)).toEqual([
      '.eslintrc.json:1:1',
      '.github/workflows/ci.yml:1:1',
      'latin.txt:1:5',
      'plain.txt:1:3',
      'wide.txt:1:5',
      'wide.txt:2:1',
    ]);
    expect(cursor).toBeUndefined();
    expect(note).toBe(LEFT_OUT);
    expect((await search(root, { query: 'needle', glob: '*.{yml,json}' })).note).toBe(LEFT_OUT);
    expect((await search(root, { query: 'n\u00e4' })).matches).toMatchObject([{ path: 'wide.txt' }]);
  });

  test('names that are not UTF-8, in a search and in a listing', async () => {
    const root = await tempFolder();
    const at = (name: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);
    await writeTree(root, { ok: 'needle' });
    await writeFile(at('x\xff.txt'), 'needle');
    await mkdir(at('d\xff'));
    await writeFile(at('d\xff/y'), 'hay');
    const { matches, note } = await search(root, { query: 'needle' });
    expect(matches).toMatchObject([{ path: 'ok' }]);
    expect(note).toContain('Files not shown because their names are not UTF-8: 1.');
    expect(note).toContain('Folders not searched: d\ufffd (its name is not UTF-8).');
    const { entries } = await explorerOf(root, { defaultDepth: 2 }).list({ path: root }, never);
    expect(entries[0]).toEqual({ name: 'd\ufffd', type: 'directory', note: 'its name is not UTF-8' });
  });
});

describe('a search', () => {
  test('that takes too long returns what was found, with a note that it is incomplete, and no cursor', async () => {
    const root = await tempFolder();
    await writeTree(root, { x: 'needle' });
    const ripgrep = await programOf(`
echo '{"type":"begin","data":{"path":{"text":"./x"}}}'
echo '{"type":"match","data":{"path":{"text":"./x"},"lines":{"text":"needle"},"line_number":1,"absolute_offset":0,"submatches":[{"match":{"text":"needle"},"start":0,"end":6}]}}'
echo '{"type":"end","data":{"path":{"text":"./x"},"binary_offset":null}}'
exec sleep 60`);
    const explorer = explorerOf(root, { ripgrep, searchLimitMs: 1_000 });
    const page = await explorer.search({ path: root, query: 'needle' }, never);
    expect(page).toMatchObject({
      matches: [{ path: 'x', line: 1 }],
      note: expect.stringContaining('took too long') as unknown,
    });
    expect(page.cursor).toBeUndefined();
  });

  test('in an ignored folder searches only tracked files', async () => {
    const root = await tempFolder();
    await git(root, 'init', '-q');
    await writeTree(root, {
      '.gitignore': 'out/\ndist/\n',
      'out/a': 'foo',
      'out/dist/b': 'foo',
      'out/sub/dist/c': 'foo',
      'out/kept/tracked': 'foo',
      'out/kept/other': 'foo',
    });
    await git(root, 'add', '-f', 'out/kept/tracked');
    const explorer = explorerOf(root);
    const found = async (path: string) => {
      const query = { path: join(root, path), query: 'foo' };
      return (await explorer.search(query, never)).matches.map((match) => match.path);
    };
    expect(await found('out')).toEqual(['kept/tracked']);
    expect(await found('out/kept')).toEqual(['tracked']);
    for (const path of ['out/sub', 'out/sub/dist', 'out/dist']) {
      expect(await found(path), path).toEqual([]);
      const listed = await explorer.list({ path: join(root, path), depth: 3 }, never);
      expect(listed.entries, path).toEqual([]);
      expect(listed.note, path).toBe('git ignores this folder; ignored: true shows its contents');
    }
  });

  test('a named pipe instead of an ignore file deep below stops no search: nothing is left out then, with a note', async () => {
    const root = await tempFolder();
    await git(root, 'init', '-q');
    await writeTree(root, { '.gitignore': 'z*', 'a/b/y': 'foo', 'a/zz': 'foo' });
    await run('mkfifo', [join(root, 'a/b/.gitignore')]);
    const page = await explorerOf(root).search({ path: root, query: 'foo' }, never);
    expect(page.matches.map(({ path }) => path)).toEqual(['a/b/y', 'a/zz']);
    expect(page.note).toMatch(
      /[Gg]it could not read \.gitignore files, so they were not applied: .*named pipe/,
    );
  });

  test('a line of over a megabyte, or with very many matches, is named, and the lines beside it are found', async () => {
    const root = await tempFolder();
    const half = 'x'.repeat(600_000);
    await writeTree(root, { 'a.txt': `${half}needle${half}`, 'b.txt': `${'needle'.repeat(30_000)}\nneedle` });
    const page = await explorerOf(root).search({ path: root, query: 'needle' }, never);
    expect(page.matches).toMatchObject([{ path: 'b.txt', line: 2, column: 1 }]);
    expect(page.note).toBe('Found in lines too long to show: a.txt, b.txt.');
  });

  test.each([
    ['fails', 'exit 3'],
    ['is killed', 'kill -9 $$'],
    ['is another program', 'echo usage: rg'],
    ['ends without its summary', 'exit 0'],
  ])('whose ripgrep %s is an error that says so', async (_how, script) => {
    const root = await tempFolder();
    await writeTree(root, { x: 'needle' });
    const explorer = explorerOf(root, { ripgrep: await programOf(script) });
    await expect(explorer.search({ path: root, query: 'needle' }, never)).rejects.toMatchObject({
      code: 'SEARCH_FAILED',
      message: expect.stringContaining('ripgrep, which searches files, failed: ') as unknown,
    });
  });

  test('without ripgrep is an error that names what is missing', async () => {
    const root = await tempFolder();
    const ripgrep = join(root, 'rg');
    await expect(
      explorerOf(root, { ripgrep }).search({ path: root, query: 'x' }, never),
    ).rejects.toMatchObject({
      code: 'SEARCH_FAILED',
      message: expect.stringContaining('@vscode/ripgrep-') as unknown,
    });
  });

  test('reads nothing that is ignored, whatever its glob', async () => {
    const root = await tempFolder();
    await writeTree(root, {
      'src/a': 'foo',
      'src/node_modules/[x]*/a': 'foo',
      '.gitignore': 'ignored',
      'src/ignored': 'foo',
    });
    for (const glob of ['**', 'src/**', '*', 'ignored', '!none']) {
      const { matches } = await explorerOf(root).search({ path: root, query: 'foo', glob }, never);
      expect(
        matches.map(({ path }) => path),
        glob,
      ).toEqual(glob === 'ignored' ? [] : ['src/a']);
    }
  });

  test.each([
    [{ query: 'a(', regex: true }, /refuses .* unclosed group/],
    [{ query: 'a', glob: '{a' }, /refuses .* unclosed alternate group/],
    [{ query: 'a', glob: '[', names: true }, /refuses .* unclosed character class/],
    [{ query: 'a'.repeat(4_001) }, /4001 characters long; at most 4000/],
    [{ query: '' }, /empty/],
    [{ query: 'a\nb' }, /line end/],
    [{ query: 'a', glob: 'x/' }, /cannot match any file/],
    [{ query: 'a', glob: `{${','.repeat(30_000)}` }, /30001 characters long/],
    [{ query: 'a', cursor: 'zzz' }, /cursor/],
  ])('%j is refused with what is wrong', async (query, words) => {
    const root = await tempFolder();
    const error: unknown = await explorerOf(root)
      .search({ path: root, ...query }, never)
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof BridgeError)) throw error;
    expect(error.code).toBe('INVALID_ARGUMENTS');
    expect(error.message).toMatch(words);
  });
});

/** A program that replaces ripgrep. */
async function programOf(script: string): Promise<string> {
  const bin = await tempFolder();
  await writeTree(bin, { rg: `#!/bin/sh\n${script}\n` });
  await chmod(join(bin, 'rg'), 0o755);
  return join(bin, 'rg');
}
