// Pure: names that listings and searches leave out even if no ignore file names them.
import type { NameInFolder } from './ignore-rules.js';

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

/** Counts the entries that a listing or a search leaves out because of these patterns. */
export class LeftOut {
  readonly #counts = new Map<string, number>();

  /** Counts the hidden ones of a folder's names. */
  add(names: readonly NameInFolder[], hidden: ReadonlySet<string>): void {
    for (const { name } of names) {
      const pattern = hidden.has(name) ? alwaysIgnoredBy(name) : undefined;
      if (pattern !== undefined) this.#counts.set(pattern, (this.#counts.get(pattern) ?? 0) + 1);
    }
  }

  /** Undefined when nothing was left out. */
  note(): string | undefined {
    if (this.#counts.size === 0) return undefined;
    const parts = ALWAYS_IGNORED.flatMap((pattern) => {
      const count = this.#counts.get(pattern);
      return count === undefined ? [] : [count === 1 ? pattern : `${pattern} (${count})`];
    });
    return `left out: ${parts.join(', ')}; ignored: true shows them`;
  }
}
