import { basename } from 'node:path';
import { ALWAYS_IGNORED, alwaysIgnoredBy } from './always-ignored.js';

/** What a listing or a search leaves out of the folders that it reads. */
export class LeftOut {
  readonly #ignored = new Set<string>();
  #hidden = 0;

  /** Adds ignored entries of `folder`, which is `''` or `a/b`. */
  addIgnored(folder: string, names: ReadonlySet<string>): void {
    for (const name of names) this.#ignored.add(folder === '' ? name : `${folder}/${name}`);
  }

  addHidden(count: number): void {
    this.#hidden += count;
  }

  /** For files that a rule ignores, but that are shown because git tracks them. */
  remove(paths: Iterable<string>): void {
    for (const path of paths) this.#ignored.delete(path);
  }

  /** Undefined when nothing was left out. `isCounted` is false when not all folders were read. */
  note(isCounted: boolean): string | undefined {
    const counts = new Map<string, number>();
    let others = 0;
    for (const path of this.#ignored) {
      const pattern = alwaysIgnoredBy(basename(path));
      if (pattern === undefined) others++;
      else counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
    }
    const parts = ALWAYS_IGNORED.flatMap((pattern) => {
      const count = counts.get(pattern);
      return count === undefined ? [] : [count === 1 ? pattern : `${pattern} (${count})`];
    });
    if (others > 0) parts.push(isCounted ? `${others} ignored` : 'ignored files');
    if (this.#hidden > 0) parts.push(`${this.#hidden} hidden`);
    return parts.length === 0 ? undefined : `left out: ${parts.join(', ')}; ignored: true shows them`;
  }
}
