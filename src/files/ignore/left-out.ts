import { basename } from 'node:path';
import { ALWAYS_IGNORED, alwaysIgnoredBy } from './always-ignored.js';
import type { NameInFolder } from './ignore-rules.js';

/** What a listing or a search leaves out of the folders that it reads. */
export class LeftOut {
  /** Ignored folders and files, as relative paths. */
  readonly folders: string[] = [];
  readonly files: string[] = [];
  #hidden = 0;

  /** Adds ignored entries of `folder`, which is `''` or `a/b`. */
  addIgnored(folder: string, entries: readonly NameInFolder[]): void {
    for (const { name, isFolder } of entries)
      (isFolder ? this.folders : this.files).push(folder === '' ? name : `${folder}/${name}`);
  }

  addHidden(count: number): void {
    this.#hidden += count;
  }

  /** Undefined when nothing was left out. */
  note(): string | undefined {
    const counts = new Map<string, number>();
    let others = 0;
    for (const path of [...this.folders, ...this.files]) {
      const pattern = alwaysIgnoredBy(basename(path));
      if (pattern === undefined) others++;
      else counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
    }
    const parts = ALWAYS_IGNORED.flatMap((pattern) => {
      const count = counts.get(pattern);
      return count === undefined ? [] : [count === 1 ? pattern : `${pattern} (${count})`];
    });
    if (others > 0) parts.push(`${others} ignored`);
    if (this.#hidden > 0) parts.push(`${this.#hidden} hidden`);
    return parts.length === 0 ? undefined : `left out: ${parts.join(', ')}; ignored: true shows them`;
  }
}
