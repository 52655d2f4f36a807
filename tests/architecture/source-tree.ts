import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';

/** The checkout. */
export const root = join(import.meta.dirname, '..', '..');

export interface Import {
  readonly specifier: string;
  /** What it names; empty where that is not a list. */
  readonly names: readonly string[];
  /** True for one that is gone when the program runs. */
  readonly isType: boolean;
}

export interface SourceFile {
  /** Path below the checkout, with slashes. */
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly tree: ts.SourceFile;
}

const SOURCE = /\.(ts|tsx|mjs)$/;

const read = new Map<string, readonly SourceFile[]>();

/** All sources below a folder of the checkout, read once; blank and comment lines count. */
export function sourcesBelow(folder: string): readonly SourceFile[] {
  const known = read.get(folder) ?? readSources(folder);
  read.set(folder, known);
  return known;
}

function readSources(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => SOURCE.test(path))
    .map((path) => sourceFile(posix.join(folder, path)))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The file that a relative import leads to, below the checkout; undefined for packages. */
export function targetOf(
  file: SourceFile,
  specifier: string,
  paths: ReadonlySet<string>,
): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const target = posix.join(dirname(file.path), specifier);
  const names = [target, target.replace(/\.js$/, '.ts'), target.replace(/\.js$/, '.tsx')];
  return names.find((name) => paths.has(name));
}

export function pathsOf(files: readonly SourceFile[]): ReadonlySet<string> {
  return new Set(files.map(({ path }) => path));
}

function sourceFile(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return { path, lines: text.split('\n').length - 1, imports: importsOf(tree), tree };
}

/** What a file imports: statically, dynamically, or as a type alone. */
function importsOf(tree: ts.SourceFile): Import[] {
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier))
      found.push({ specifier: specifier.text, names: namesOf(node), isType: isTypeImport(node) });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return node.arguments[0];
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  return undefined;
}

function namesOf(node: ts.Node): string[] {
  const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : undefined;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

function isTypeImport(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  if (!ts.isImportDeclaration(node) || node.importClause === undefined) return false;
  const { phaseModifier, name, namedBindings } = node.importClause;
  if (phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  return (
    name === undefined &&
    namedBindings !== undefined &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.length > 0 &&
    namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}
