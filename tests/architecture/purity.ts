import ts from 'typescript';
import { pathsOf, targetOf, type Import, type SourceFile } from './source-tree.js';

/** The first line of a file that tests may import although it is no entry of its folder. */
export const MARK = '// Pure';

/** Modules without effects, whose answers depend on their arguments alone. */
const pureModules: readonly string[] = [
  ...['buffer', 'crypto', 'path', 'string_decoder', 'url', 'util'].map((name) => `node:${name}`),
  ...['@preact/signals', 'fastest-levenshtein', 'highlight.js', 'jsonc-parser', 'marked'],
  ...['preact', 'preact/hooks', 're2js', 'yaml', 'zod'],
];

/** What the machine, the time or chance decide. */
const impureGlobals: ReadonlySet<string> = new Set([
  ...['process', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'fetch', 'globalThis'],
  ...['document', 'window', 'location', 'navigator', 'localStorage', 'sessionStorage', 'WebSocket'],
]);
const impureCalls: ReadonlySet<string> = new Set(['Date.now', 'Math.random']);

/** Why files are not pure, by path: each file whose own code, or that of a file which it imports at run time, is not. */
export function impurities(files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const paths = pathsOf(files);
  const found = new Map<string, string>();
  for (const file of files) {
    const why = ownImpurity(file);
    if (why !== undefined) found.set(file.path, why);
  }
  for (let grew = true; grew;) {
    const before = found.size;
    for (const file of files.filter(({ path }) => !found.has(path))) {
      const targets = file.imports
        .filter(({ isType }) => !isType)
        .map(({ specifier }) => targetOf(file, specifier, paths));
      const impure = targets.find((target) => target !== undefined && found.has(target));
      if (impure !== undefined) found.set(file.path, `imports ${impure}`);
    }
    grew = found.size > before;
  }
  return found;
}

function ownImpurity(file: SourceFile): string | undefined {
  const module = file.imports.find((one) => !one.isType && !isPureModule(one));
  if (module !== undefined) return `imports ${module.specifier}`;
  const locals = new Set<string>();
  const used = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      used.add('import()');
    if (isDeclared(node)) locals.add(node.name.text);
    if (ts.isIdentifier(node) && impureGlobals.has(node.text) && isUse(node)) used.add(node.text);
    if (ts.isPropertyAccessExpression(node) && impureCalls.has(node.getText())) used.add(node.getText());
    if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && node.arguments?.length === 0)
      used.add('new Date()');
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
  const name = [...used].find((one) => !locals.has(one));
  return name === undefined ? undefined : `uses ${name}`;
}

function isPureModule({ specifier, names }: Import): boolean {
  if (specifier.startsWith('.')) return true;
  if (specifier === 'node:os') return names.length > 0 && names.every((name) => name === 'constants');
  return pureModules.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

function isDeclared(node: ts.Node): node is ts.NamedDeclaration & { readonly name: ts.Identifier } {
  const isNamed = ts.isParameter(node) || ts.isVariableDeclaration(node) || ts.isBindingElement(node);
  return isNamed && ts.isIdentifier(node.name);
}

/** False for the name of a property or type. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    !((ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) && parent.name === node) &&
    !(ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent) || ts.isTypeReferenceNode(parent))
  );
}
