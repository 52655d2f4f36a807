// Pure: names that listings and searches leave out even if no ignore file names them.

/** Patterns in the syntax of `.gitignore`. */
export const ALWAYS_IGNORED: readonly string[] = [
  'node_modules',
  '__pycache__',
  '*.pyc',
  '.DS_Store',
  'Thumbs.db',
];

/** Arguments that make git ignore them in one call. */
export const ALWAYS_IGNORED_ARGUMENTS: readonly string[] = ALWAYS_IGNORED.flatMap((pattern) => [
  '--exclude',
  pattern,
]);

/** The pattern that matches a name. */
export function alwaysIgnoredBy(name: string): string | undefined {
  return name.endsWith('.pyc') ? '*.pyc' : ALWAYS_IGNORED.find((pattern) => pattern === name);
}

/** True for such a folder and everything below it: a caller that names it wants to see its contents. */
export function isBelowAlwaysIgnored(path: string): boolean {
  return path.split('/').some((name) => alwaysIgnoredBy(name) !== undefined);
}
