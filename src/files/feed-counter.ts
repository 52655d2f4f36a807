import { countedBuffer, countNewlines, newlinesIn, type CountedBuffer } from './count-newlines.js';
import { unitBytes, type TextEncoding } from './text-encoding.js';

/** What is copied and counted at a time; less is counted where it lies. */
const WINDOW_BYTES = 65_536;

/** Counts line feeds in bytes that lie anywhere, sixteen at once: the memory in which that can be done is made for the first and kept. */
export class FeedCounter {
  #window: CountedBuffer | undefined;

  count(bytes: Buffer, encoding: TextEncoding): number {
    if (bytes.length < WINDOW_BYTES || unitBytes(encoding) === 2) return newlinesIn(bytes, encoding);
    this.#window ??= countedBuffer(WINDOW_BYTES, WINDOW_BYTES);
    let total = 0;
    for (let at = 0; at < bytes.length; at += WINDOW_BYTES) {
      const part = bytes.subarray(at, at + WINDOW_BYTES);
      this.#window.bytes.set(part);
      total += countNewlines(this.#window, 0, part.length, encoding);
    }
    return total;
  }
}
