import { lstatSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { systemCodeOf } from '../base/errors.js';
import type { Parts } from './append-file.js';

/** Two parts: `path` is being filled, and `path.1` is the one before. Together they hold at most `maxBytes`. */
export class RotatedPair implements Parts {
  readonly partBytes: number;
  readonly last: { readonly path: string; readonly size: number };
  readonly endsAtGap = false;
  readonly #path: string;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.partBytes = Math.floor(maxBytes / 2);
    this.last = { path, size: sizeOfFile(path) };
  }

  async begin(): Promise<string> {
    await rename(this.#path, `${this.#path}.1`).catch((error: unknown) => {
      // Somebody removed the file: there is nothing to keep.
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    });
    return this.#path;
  }
}

/** What is no file, or may not be looked at, is reported when it is opened. */
function sizeOfFile(path: string): number {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? found.size : 0;
  } catch {
    return 0;
  }
}
