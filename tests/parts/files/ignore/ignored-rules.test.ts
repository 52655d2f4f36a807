import fc from 'fast-check';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../../../harness/temp-folder.js';
import { explorerOf, git, never, writeTree } from '../../../files/explorer.js';
import { rounds } from '../../../harness/rounds.js';

const RUNS = rounds(25);
const MAX_LIST_BYTES = 400_000;
const name = fc.constantFrom('a', 'b', 'ab', 'abc', 'a.b', 'A', 'é');
const piece = fc.constantFrom('a', 'b', '*', '?', '**', '[ab]', '[!a]', '[[:alpha:]]', '.', 'é', '\\a', 'c');
const segment = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(''));
const line = fc
  .tuple(
    fc.constantFrom('', '', '', '!'),
    fc.constantFrom('', '', '/'),
    fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/')),
    fc.constantFrom('', '', '/', ' '),
  )
  .map((parts) => parts.join(''))
  .filter((text) => !isMisreadByGit(text));
const rules = fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n'));
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));

/**
 * git before 2.52 takes the literal beginning of a pattern with a slash away before it looks at the rest, and then takes `**` right
 * behind it for one that goes through folders: to it `a**` + `/b` is `ab`, too (git's release notes, "foo**" + "/bar").
 */
function isMisreadByGit(text: string): boolean {
  return /^!?[^*?[\\]*[^*?[\\/!]\*\*/.test(text) && text.includes('/');
}

/** A file and a folder cannot have one name: the longer path wins. */
function filesOf(paths: readonly string[], top: string, nested: string): Record<string, string> {
  const files = paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`)));
  const folder = files.find((one) => one.includes('/'))?.split('/')[0];
  return {
    ...Object.fromEntries(files.map((file) => [file, ''])),
    '.gitignore': top,
    ...(folder !== undefined && { [`${folder}/.gitignore`]: nested }),
  };
}

async function shownFiles(root: string): Promise<string[]> {
  const page = await explorerOf(root).list({ path: root, depth: 5, maxBytes: MAX_LIST_BYTES }, never);
  return page.entries.flatMap(({ name: file, type }) => (type === 'file' ? [file] : [])).sort();
}

describe('ignore rules', () => {
  test('generated trees are shown as git lists them, with git and without', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { minLength: 1, maxLength: 12 }),
        rules,
        rules,
        async (paths, top, nested) => {
          const base = await tempFolder();
          const files = filesOf(paths, top, nested);
          const [inRepository, plain] = [join(base, 'git'), join(base, 'plain')];
          for (const root of [inRepository, plain]) {
            await mkdir(root);
            await writeTree(root, files);
          }
          await git(inRepository, 'init', '-q');
          const listed = (await git(inRepository, 'ls-files', '-co', '--exclude-standard', '-z'))
            .split('\0')
            .filter((file) => file !== '' && !file.endsWith('.gitignore'))
            .sort();
          expect(await shownFiles(inRepository)).toEqual(listed);
          expect(await shownFiles(plain)).toEqual(listed);
        },
      ),
      {
        numRuns: RUNS,
        examples: [
          // To git a set stands for one byte.
          [['é/a'], '[!a]', ''],
          // A nearer file shows a folder again that one farther up ignores.
          [['a/abc/a', 'a/abc/b/c'], 'ab[[:alpha:]]', '!a[!a]c'],
        ],
      },
    );
  }, 60_000);

  test('the ignore files of folders above apply too, within the roots', async () => {
    const root = await tempFolder();
    await writeTree(root, {
      '.gitignore': '/p/out\n*.tmp\n',
      'p/out': '',
      'p/in': '',
      'p/x.tmp': '',
      'p/out2': '',
    });
    const page = await explorerOf(root).list({ path: join(root, 'p') }, never);
    expect(page.entries.map(({ name: file }) => file)).toEqual(['in', 'out2']);
  });

  test.each([
    [
      'a pointer to a folder that is gone',
      '.git',
      'gitdir: /gone/.git/worktrees/x\n',
      'not a git repository',
    ],
    ['junk', '.git', 'junk', 'invalid gitfile format'],
    ['settings with a syntax error', '.git/config', '[broken\n', 'bad config line'],
    ['an index that is none', '.git/index', 'not an index', 'index'],
  ])('with %s as .git, the ignore files apply, and a note says so', async (_what, path, text, why) => {
    const base = await tempFolder();
    if (path !== '.git') await git(base, 'init', '-q');
    await writeTree(base, {
      [path]: text,
      'p/.gitignore': '*.log\n',
      'p/a.log': 'needle',
      'p/sub/a.log': 'needle',
      'p/sub/b.txt': 'needle',
    });
    const said: unknown = expect.stringMatching(`[Gg]it could not list what it ignores.*${why}`);
    // In the root, above the folder, and above the root.
    for (const [root, folder, shown] of [
      [base, '', 'p/sub/b.txt'],
      [base, 'p/sub', 'b.txt'],
      [join(base, 'p'), '', 'sub/b.txt'],
    ] as const) {
      const explorer = explorerOf(root, { defaultDepth: 4 });
      const query = { path: join(root, folder) };
      const { entries, note } = await explorer.list(query, never);
      const files = entries.filter(({ type }) => type === 'file').map(({ name: file }) => file);
      expect({ files, note }).toEqual({ files: [shown], note: said });
      const found = await explorer.search({ ...query, query: 'needle' }, never);
      expect(found).toMatchObject({ matches: [{ path: shown }], note: said });
    }
  });
});
