import { lstatSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { systemCodeOf } from '../base/errors.js';
import type { Parts } from './append-file.js';

/** Two parts of at most `partBytes`: `path` is the current one, and `path.1` the one before. Together they hold at least that much. */
export class RotatedPair implements Parts {
  readonly partBytes: number;
  readonly last: { readonly path: string; readonly size: number };
  readonly endsAtGap = false;
  readonly #path: string;

  constructor(path: string, partBytes: number) {
    this.#path = path;
    this.partBytes = partBytes;
    this.last = { path, size: sizeOfFile(path) };
  }

  async begin(): Promise<string> {
    await rename(this.#path, `${this.#path}.1`).catch((error: unknown) => {
      // The file was removed: there is nothing to rotate.
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    });
    return this.#path;
  }
}

/** 0 for anything else than a readable file: the error is reported when it is opened. */
function sizeOfFile(path: string): number {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? found.size : 0;
  } catch {
    return 0;
  }
}
