// Pure: names that listings and searches leave out whether or not an ignore file names them.
import type { NameInFolder } from './ignore-rules.js';

/** Patterns of git's ignore files. */
export const ALWAYS_IGNORED: readonly string[] = [
  'node_modules',
  '__pycache__',
  '*.pyc',
  '.DS_Store',
  'Thumbs.db',
];

/** Arguments by which git ignores them in one call. */
export const ALWAYS_IGNORED_ARGUMENTS: readonly string[] = ALWAYS_IGNORED.flatMap((pattern) => [
  '--exclude',
  pattern,
]);

/** The pattern that hits a name. */
export function alwaysIgnoredBy(name: string): string | undefined {
  return name.endsWith('.pyc') ? '*.pyc' : ALWAYS_IGNORED.find((pattern) => pattern === name);
}

/** True for a folder below such a name: its caller named it, and wants to see what is in it. */
export function isBelowAlwaysIgnored(path: string): boolean {
  return path.split('/').some((name) => alwaysIgnoredBy(name) !== undefined);
}

/** Counts what a listing or a search leaves out by these patterns. */
export class LeftOut {
  readonly #counts = new Map<string, number>();

  /** Counts those of a folder's names that are hidden. */
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
