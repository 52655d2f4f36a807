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

/**
 * Hands what a container prints on to a sink, in order, and reads no faster than the sink takes it: then the engine stops
 * reading too, and the program at its full pipe.
 */
export class AttachedOutput {
  /** Ends when the stream is over and all of it is handed on. Never rejects. */
  readonly ended: Promise<void>;
  readonly #stream: Readable;
  readonly #sink: OutputSink;
  readonly #splitter: FrameSplitter | undefined;
  #markEnded: () => void = () => undefined;
  #isOver = false;
  #isBusy = false;
  #takenBytes = 0;

  constructor(stream: Readable, options: { readonly sink: OutputSink; readonly isTerminal: boolean }) {
    this.#stream = stream;
    this.#sink = options.sink;
    this.#splitter = options.isTerminal ? undefined : new FrameSplitter();
    this.ended = new Promise((resolve) => (this.#markEnded = resolve));
    stream.on('data', (chunk: Buffer) => {
      this.#takenBytes += chunk.length;
      this.#deliver(this.#splitter?.split(chunk) ?? [{ stream: 'terminal', bytes: chunk }], 0);
    });
    // A cut connection; the next call to the engine reports why.
    stream.on('error', () => this.#finish());
    stream.on('end', () => this.#finish());
    stream.on('close', () => this.#finish());
    // It closed before anybody listened.
    if (stream.destroyed) this.#finish();
  }

  /** True when the stream is over: the program closed its output, or the connection was cut. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves with the last byte after the end of the container, or when no more comes. */
  async rest(clock: Clock): Promise<void> {
    const ended = this.ended.then(() => true);
    for (let seen = -1; seen !== this.#takenBytes || this.#isBusy;) {
      seen = this.#takenBytes;
      if ((await withinMs(clock, QUIET_AFTER_END_MS, ended)) === true) return;
    }
  }

  #deliver(pieces: readonly OutputPiece[], from: number): void {
    for (let at = from; at < pieces.length; at++) {
      const piece = pieces[at];
      if (piece === undefined) return;
      const wait = this.#sink.write(piece.stream, piece.bytes);
      if (wait === undefined) continue;
      this.#isBusy = true;
      this.#stream.pause();
      const goOn = (): void => {
        this.#isBusy = false;
        this.#deliver(pieces, at + 1);
        if (this.#isBusy) return;
        if (this.#isOver) this.#markEnded();
        else this.#stream.resume();
      };
      // A sink reports its own errors; the program goes on.
      wait.then(goOn, goOn);
      return;
    }
  }

  #finish(): void {
    this.#isOver = true;
    if (!this.#isBusy) this.#markEnded();
  }
}
