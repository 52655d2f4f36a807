import { basename, dirname, posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { circularImports } from './circles.js';
import { areas, bannedNames, exceptions, layers, soleImporters } from './layers.js';
import { pathsOf, sourcesBelow, targetOf } from './source-tree.js';

const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.ts$/;

interface SourceFile {
  /** Path below src, with slashes. */
  readonly path: string;
  /** The first folder, or the file itself for those in src. */
  readonly layer: string;
  readonly imports: readonly string[];
  readonly tree: ts.SourceFile;
}

const files: readonly SourceFile[] = sourcesBelow('src').map(({ path, imports, tree }) => {
  const below = path.slice('src/'.length);
  const [layer = below] = below.split('/');
  return { path: below, layer, imports: imports.map(({ specifier }) => specifier), tree };
});

describe('the folders of src', () => {
  test('each has a row in the table of layers, and each row its folder', () => {
    const folders = new Set(files.map((file) => file.layer));
    const rows = layers.map(({ folder }) => folder);
    expect([...folders].filter((folder) => !rows.includes(folder))).toEqual([]);
    expect(rows.filter((folder) => !folders.has(folder))).toEqual([]);
  });

  test('the table has no circle: a row names rows above it alone', () => {
    const order = layers.map(({ folder }) => folder);
    const rising = layers.flatMap(({ folder, imports }) =>
      imports === 'everything'
        ? []
        : imports
            .filter((other) => !order.slice(0, order.indexOf(folder)).includes(other))
            .map((other) => `${folder} → ${other}`),
    );
    expect(rising).toEqual([]);
  });

  test('import only what the table allows them', () => {
    const faults = files.flatMap((file) => file.imports.flatMap((specifier) => layerFault(file, specifier)));
    expect(faults).toEqual([]);
  });

  test('no exception is left that nothing needs', () => {
    const unused = exceptions.filter(
      ({ file, imports }) =>
        !files.some((one) => one.path === file && one.imports.some((name) => layerOf(one, name) === imports)),
    );
    expect(unused.map(({ file, imports }) => `${file} → ${imports}`)).toEqual([]);
  });

  test.each(soleImporters.map((rule) => [rule.modules.join(', '), rule] as const))(
    'only its owner imports %s',
    (_name, rule) => {
      const others = files.filter(
        (file) =>
          !rule.folders.includes(file.layer) &&
          file.imports.some((specifier) => rule.modules.some((name) => isModule(specifier, name))),
      );
      expect(others.map((file) => `${file.path}: ${rule.why}`)).toEqual([]);
    },
  );
});

describe('the folders of src, web and vscode', () => {
  const all = ['src', 'web', 'vscode'].flatMap(sourcesBelow);
  const paths = pathsOf(all);

  test('import nothing in a circle, types included', () => {
    const graph = new Map(
      all.map((file) => [
        file.path,
        file.imports.flatMap(({ specifier }) => targetOf(file, specifier, paths) ?? []),
      ]),
    );
    const inCircles = new Set(circularImports(graph).flatMap((edge) => edge.split(' → ')));
    expect([...inCircles]).toEqual([]);
  });

  test.each(areas)('$folder imports of src only what the table allows it', ({ folder, imports }) => {
    const faults = sourcesBelow(folder).flatMap((file) =>
      file.imports.flatMap(({ specifier }) => {
        const [root, layer = ''] = targetOf(file, specifier, paths)?.split('/') ?? [];
        const isAllowed = root !== 'src' || imports === 'everything' || imports.includes(layer);
        return isAllowed ? [] : [`${file.path} imports ${specifier}: ${folder} may not import ${layer}`];
      }),
    );
    expect(faults).toEqual([]);
  });
});

describe('the files of src', () => {
  test('are named after what they hold, in kebab-case', () => {
    const odd = files.filter(
      ({ path }) => !kebabCase.test(basename(path)) || bannedNames.test(basename(path)),
    );
    expect(odd.map((file) => file.path)).toEqual([]);
  });

  test('read process.env in config alone, but for the choice of the process table', () => {
    const readers = using((node) => isProperty(node, 'process', 'env'));
    expect(readers.filter((path) => !path.startsWith('config/'))).toEqual(['os/process-source.ts']);
  });

  test('send signals by two files of os alone', () => {
    const senders = using((node) => isProperty(node, 'process', 'kill'));
    expect(senders).toEqual(['os/pid-in-use.ts', 'os/process-system.ts']);
  });

  test('call kill(2) by os alone, which checks first whom it means', () => {
    const callers = files.filter(
      (file) => file.layer !== 'os' && file.imports.some((name) => name.endsWith('/pid-in-use.js')),
    );
    expect(callers.map((file) => file.path)).toEqual(['store/process-identity.ts']);
  });

  test('read the process table in os alone', () => {
    const isFact = (node: ts.Node): boolean =>
      (ts.isStringLiteralLike(node) && node.text === '/bin/ps') ||
      (ts.isTemplateTail(node) && /^\/(stat|status|environ|cmdline)$/.test(node.text));
    expect(using(isFact).filter((path) => !path.startsWith('os/'))).toEqual([]);
  });

  test('are no barrels: none only re-exports', () => {
    const barrels = files.filter(
      ({ tree }) => tree.statements.length > 0 && tree.statements.every(isPassedOn),
    );
    expect(barrels.map((file) => file.path)).toEqual([]);
  });
});

/** The file that a relative import leads to, below src; undefined for packages, and for files outside src. */
function pathOf(file: SourceFile, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const target = posix.join(dirname(file.path), specifier);
  return target.startsWith('../') ? undefined : target.replace(/\.js$/, '.ts');
}

function layerOf(file: SourceFile, specifier: string): string | undefined {
  return pathOf(file, specifier)?.split('/')[0];
}

/** `name` ends in `*` for any module that begins so. */
function isModule(specifier: string, name: string): boolean {
  return name.endsWith('*') ? specifier.startsWith(name.slice(0, -1)) : specifier === name;
}

function layerFault(file: SourceFile, specifier: string): string[] {
  const target = layerOf(file, specifier);
  const allowed = layers.find(({ folder }) => folder === file.layer)?.imports ?? [];
  if (target === undefined || target === file.layer || allowed === 'everything' || allowed.includes(target))
    return [];
  if (exceptions.some((one) => one.file === file.path && one.imports === target)) return [];
  return [`${file.path} imports ${specifier}: ${file.layer} may not import ${target}`];
}

/** Paths of the files in which some node is such a one. */
function using(matches: (node: ts.Node) => boolean): string[] {
  const contains = (node: ts.Node): boolean =>
    matches(node) || (ts.forEachChild(node, (child) => contains(child) || undefined) ?? false);
  return files.filter((file) => contains(file.tree)).map((file) => file.path);
}

function isPassedOn(statement: ts.Statement): boolean {
  return ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
}

function isProperty(node: ts.Node, object: string, name?: string): boolean {
  return (
    (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === object &&
    (name === undefined || (ts.isPropertyAccessExpression(node) && node.name.text === name))
  );
}
