import { closeSync, openSync, readSync } from 'node:fs';

/** Enough for most files below /proc; the buffer grows when one is larger, and stays that large. */
const FIRST_BYTES = 32 * 1024;

/**
 * Reads files below /proc. They have no size, and a short read means the end (proc(5)). So three system calls suffice where
 * `readFileSync` makes five, and one buffer serves all; this pays when many are read.
 */
export class KernelFiles {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);

  /** The whole text, as Latin-1. Throws the system's error. */
  read(path: string): string {
    const descriptor = openSync(path, 'r');
    try {
      for (let length = 0; ;) {
        length += readSync(descriptor, this.#buffer, length, this.#buffer.length - length, null);
        if (length < this.#buffer.length) return this.#buffer.toString('latin1', 0, length);
        this.#buffer = Buffer.concat([this.#buffer], 2 * this.#buffer.length);
      }
    } finally {
      closeSync(descriptor);
    }
  }
}
