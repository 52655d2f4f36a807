// Pure: what a container prints, from the stream that its engine gives.
import type { Readable } from 'node:stream';
import { withinMs, type Clock } from '../../base/clock.js';
import type { OutputSink, OutputStream } from '../../pty/child.js';

/** After the end of a container the engine still has the rest of its output; nothing for so long means that no more comes. */
const QUIET_AFTER_END_MS = 5_000;
/** Each frame: its stream (1 or 2), three zeros, the length of what follows, big-endian. */
const HEADER_BYTES = 8;
const LENGTH_AT = 4;
const STDERR = 2;

export interface OutputPiece {
  readonly stream: OutputStream;
  readonly bytes: Uint8Array;
}

/**
 * Takes an attached stream apart into stdout and stderr, wherever it is cut. Pieces point into what was given; nothing is
 * copied and nothing kept but a header that is not whole yet. (dockerode's own copies all that it holds with every frame.)
 */
export class FrameSplitter {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #leftBytes = 0;

  split(chunk: Uint8Array): OutputPiece[] {
    const pieces: OutputPiece[] = [];
    for (let at = 0; at < chunk.length;) {
      if (this.#leftBytes === 0) {
        const taken = Math.min(HEADER_BYTES - this.#headerBytes, chunk.length - at);
        this.#header.set(chunk.subarray(at, at + taken), this.#headerBytes);
        this.#headerBytes = (this.#headerBytes + taken) % HEADER_BYTES;
        if (this.#headerBytes === 0) this.#leftBytes = this.#header.readUInt32BE(LENGTH_AT);
        at += taken;
        continue;
      }
      const taken = Math.min(this.#leftBytes, chunk.length - at);
      const stream = this.#header[0] === STDERR ? 'stderr' : 'stdout';
      pieces.push({ stream, bytes: chunk.subarray(at, at + taken) });
      this.#leftBytes -= taken;
      at += taken;
    }
    return pieces;
  }
}

/**
 * Hands what a container prints on to a sink, in order, and reads no faster than the sink takes it: then the engine stops
 * reading too, and the program at its full pipe.
 */
export class AttachedOutput {
  /** Ends when the stream is over or cut, and all of it is handed on. Never rejects. */
  readonly ended: Promise<void>;
  #takenBytes = 0;
  #isBusy = false;

  constructor(stream: Readable, sink: OutputSink, isTerminal: boolean) {
    // A cut connection: how the container is says why.
    this.ended = this.#deliver(stream, sink, isTerminal).catch(() => undefined);
  }

  /** Resolves with the last byte after the end of the container, or when no more comes. */
  async rest(clock: Clock): Promise<void> {
    const ended = this.ended.then(() => true);
    for (let seen = -1; seen !== this.#takenBytes || this.#isBusy;) {
      seen = this.#takenBytes;
      if ((await withinMs(clock, QUIET_AFTER_END_MS, ended)) === true) return;
    }
  }

  async #deliver(stream: Readable, sink: OutputSink, isTerminal: boolean): Promise<void> {
    const frames = new FrameSplitter();
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      if (!(chunk instanceof Uint8Array)) continue;
      this.#takenBytes += chunk.length;
      this.#isBusy = true;
      const pieces = isTerminal ? [{ stream: 'terminal', bytes: chunk } as const] : frames.split(chunk);
      // A sink reports its own errors; the program goes on.
      for (const one of pieces) await sink.write(one.stream, one.bytes)?.catch(() => undefined);
      this.#isBusy = false;
    }
  }
}
