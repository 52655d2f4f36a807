import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../../../harness/temp-folder.js';
import { explorerOf, git, never, writeTree } from '../../../files/explorer.js';

const files = {
  'a.js': 'needle',
  'lib/a.pyc': 'needle',
  'lib/b.pyc': 'needle',
  'lib/__pycache__/c.txt': 'needle',
  'lib/Thumbs.db': 'needle',
  'lib/.DS_Store': 'needle',
  'lib/b.py': 'needle',
  'node_modules/x/index.js': 'needle',
  'node_modules/x/node_modules/y/z.js': 'needle',
};
const LISTED_NOTE =
  'left out: node_modules, __pycache__, *.pyc (2), Thumbs.db, 1 hidden; ignored: true shows them';
const FOUND_NOTE =
  'Left out: node_modules, __pycache__, *.pyc (2), .DS_Store, Thumbs.db, 1 ignored; ignored: true shows them.';

async function project(isRepository: boolean): Promise<string> {
  const root = await tempFolder();
  await writeTree(root, files);
  if (isRepository) await git(root, 'init', '-q');
  return root;
}

describe.each([
  ['with git', true],
  ['without git', false],
])('what is always ignored, %s', (_, isRepository) => {
  test('is in no listing and no tree, unless requested, and a note counts it', async () => {
    const root = await project(isRepository);
    const explorer = explorerOf(root, { defaultDepth: 5 });
    const { names, note } = await explorer.names({ path: root }, never);
    expect([names, note]).toEqual([['lib/', 'lib/b.py', 'a.js'], LISTED_NOTE]);
    const { tree } = await explorer.tree({ path: root, depth: 1 }, never);
    expect(tree.split('\n').slice(1)).toEqual(['├── lib/', '└── a.js']);
    expect(tree).toContain('[left out: node_modules; ignored: true shows them]');
    const all = await explorer.names({ path: root, ignored: true }, never);
    expect(all.note).toBeUndefined();
    expect(all.names.filter((name) => !name.endsWith('/')).sort()).toEqual(Object.keys(files).sort());
  });

  test('is shown when the path names it', async () => {
    const root = await project(isRepository);
    const inside = { path: join(root, 'node_modules/x'), depth: 1 };
    expect((await explorerOf(root).names(inside, never)).names).toEqual(['node_modules/', 'index.js']);
  });

  test('is not searched, unless requested', async () => {
    const root = await project(isRepository);
    await writeTree(root, { '.gitignore': 'out/\n', 'out/d.txt': 'needle' });
    const explorer = explorerOf(root);
    const search = async (ignored?: boolean) => {
      const page = await explorer.search({ path: root, query: 'needle', ignored }, never);
      return { paths: page.matches.map(({ path }) => path), note: page.note };
    };
    expect(await search()).toEqual({ paths: ['a.js', 'lib/b.py'], note: FOUND_NOTE });
    expect(await search(true)).toEqual({
      paths: [...Object.keys(files), 'out/d.txt'].sort(),
      note: undefined,
    });
    const names = await explorer.search({ path: root, query: '.pyc', names: true }, never);
    expect(names.matches).toEqual([]);
    expect(names.note).toContain(FOUND_NOTE);
  });
});
