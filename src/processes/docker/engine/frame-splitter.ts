// Pure.
import type { OutputStream } from '../../../pty/child.js';

export interface OutputPiece {
  readonly stream: OutputStream;
  readonly bytes: Uint8Array;
}

/** Each frame: its stream (1 or 2), three zeros, the length of what follows, big-endian. */
const HEADER_BYTES = 8;
const LENGTH_AT = 4;
const STDERR = 2;

/**
 * Takes an attached stream apart into stdout and stderr, wherever it is cut. Pieces point into what was given; nothing is
 * copied and nothing kept but a header that is not whole yet. (dockerode's own copies all that it holds with every frame.)
 */
export class FrameSplitter {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #leftBytes = 0;
  #stream: OutputStream = 'stdout';

  split(chunk: Uint8Array): OutputPiece[] {
    const pieces: OutputPiece[] = [];
    let at = 0;
    while (at < chunk.length) {
      if (this.#leftBytes === 0) {
        const taken = Math.min(HEADER_BYTES - this.#headerBytes, chunk.length - at);
        this.#header.set(chunk.subarray(at, at + taken), this.#headerBytes);
        this.#headerBytes += taken;
        at += taken;
        if (this.#headerBytes < HEADER_BYTES) break;
        this.#headerBytes = 0;
        this.#stream = this.#header[0] === STDERR ? 'stderr' : 'stdout';
        this.#leftBytes = this.#header.readUInt32BE(LENGTH_AT);
        continue;
      }
      const taken = Math.min(this.#leftBytes, chunk.length - at);
      pieces.push({ stream: this.#stream, bytes: chunk.subarray(at, at + taken) });
      this.#leftBytes -= taken;
      at += taken;
    }
    return pieces;
  }
}
