import { expect, test } from 'vitest';
import { areas, layers } from './layers.js';
import { impurities, MARK } from './purity.js';
import { pathsOf, sourcesBelow, targetOf } from './source-tree.js';

const guarded = ['src', 'web', 'vscode'].flatMap(sourcesBelow);
const tests = sourcesBelow('tests');
const entries = [
  ...layers.flatMap(({ folder, entries: names }) => names.map((name) => entryPath(`src/${folder}`, name))),
  ...areas.flatMap(({ folder, entries: names }) => names.map((name) => entryPath(folder, name))),
];

function entryPath(folder: string, name: string): string {
  return folder.endsWith('.ts') ? folder : `${folder}/${name}.ts`;
}

const isMarked = new Map(guarded.map(({ path, tree }) => [path, tree.text.startsWith(MARK)]));

test('each entry of the table is a file, and some test imports it', () => {
  const imported = new Set(importsOfTests().map(({ target }) => target));
  expect(entries.filter((path) => !isMarked.has(path))).toEqual([]);
  expect(entries.filter((path) => !imported.has(path))).toEqual([]);
});

test('a file that says "// Pure" is pure: no input, output, time or chance, nor in what it imports', () => {
  const impure = impurities(guarded);
  const wrong = guarded.filter(({ path }) => isMarked.get(path) && impure.has(path));
  expect(wrong.map(({ path }) => `${path} ${impure.get(path)}`)).toEqual([]);
});

test('tests import entries and pure files alone', () => {
  const inside = importsOfTests().filter(
    ({ target, isType }) => !isType && !entries.includes(target) && !isMarked.get(target),
  );
  expect(inside.map(({ from, target }) => `${from} imports ${target}`)).toEqual([]);
});

interface TestImport {
  readonly from: string;
  readonly target: string;
  readonly isType: boolean;
}

function importsOfTests(): TestImport[] {
  const paths = pathsOf(guarded);
  return tests.flatMap((file) =>
    file.imports.flatMap(({ specifier, isType }) => {
      const target = targetOf(file, specifier, paths);
      return target === undefined ? [] : [{ from: file.path, target, isType }];
    }),
  );
}
