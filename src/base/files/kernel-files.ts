import { closeSync, openSync, readSync } from 'node:fs';

/** Most of what the kernel tells in a file fits; the buffer grows to what was needed once. */
const FIRST_BYTES = 32 * 1024;

/**
 * Reads files below /proc: they have no size, and are over when less comes than was asked for (proc(5)). So three calls of the
 * system do where `readFileSync` makes five, into one buffer for all; made for a look at many of them.
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
