// Pure.
import type { Readable } from 'node:stream';
import { withinMs, type Clock } from '../../base/clock.js';
import type { OutputSink } from '../../pty/child.js';
import { FrameSplitter, type OutputPiece } from './engine/frame-splitter.js';
import { initFault, MAX_INIT_WORDS_BYTES, mayBeInitWords } from './init-words.js';

/** After the end of a container the engine still has the rest of its output; nothing for so long means that no more comes. */
const QUIET_AFTER_END_MS = 5_000;

/**
 * Hands what a container prints on to a sink, in order, and reads no faster than the sink takes it: then the engine stops
 * reading too, and the program at its full pipe. What may be init's message about a program that does not exist is held back, until
 * it is known to be something else.
 */
export class AttachedOutput {
  /** Ends when the stream is over and all of it is handed on; what is held back is for `release`. Never rejects. */
  readonly ended: Promise<void>;
  readonly #stream: Readable;
  readonly #sink: OutputSink;
  readonly #splitter: FrameSplitter | undefined;
  #markEnded: () => void = () => undefined;
  #markSeen: () => void = () => undefined;
  readonly #seen: Promise<void>;
  #held: OutputPiece[] | undefined = [];
  #heldText = '';
  #isOver = false;
  #isBusy = false;
  #takenBytes = 0;

  constructor(stream: Readable, options: { readonly sink: OutputSink; readonly isTerminal: boolean }) {
    this.#stream = stream;
    this.#sink = options.sink;
    this.#splitter = options.isTerminal ? undefined : new FrameSplitter();
    this.ended = new Promise((resolve) => (this.#markEnded = resolve));
    this.#seen = new Promise((resolve) => (this.#markSeen = resolve));
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    // A cut connection; the next call to the engine reports why.
    stream.on('error', () => this.#finish());
    stream.on('end', () => this.#finish());
    stream.on('close', () => this.#finish());
  }

  /** True when the stream is over, be it that the program closed its output or that the connection was cut. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves with the first sign that the program runs or not: its output, init's whole message, or the end of both. */
  get seen(): Promise<void> {
    return this.#seen;
  }

  /** Why the program could not be started, if init said so. */
  get initFault(): string | undefined {
    return this.#held === undefined ? undefined : initFault(this.#heldText);
  }

  /** Resolves with the last byte after the end of the container, or when no more comes. */
  async rest(clock: Clock): Promise<void> {
    const ended = this.ended.then(() => true);
    for (let seen = -1; seen !== this.#takenBytes || this.#isBusy;) {
      seen = this.#takenBytes;
      if ((await withinMs(clock, QUIET_AFTER_END_MS, ended)) === true) return;
    }
  }

  /** Hands on what was held back; the program did run. */
  async release(): Promise<void> {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { stream, bytes } of held) await this.#sink.write(stream, bytes);
  }

  #take(chunk: Buffer): void {
    this.#takenBytes += chunk.length;
    const pieces: OutputPiece[] = this.#splitter?.split(chunk) ?? [{ stream: 'terminal', bytes: chunk }];
    this.#deliver(this.#held === undefined ? pieces : this.#sift(this.#held, pieces), 0);
    // The beginning of init's word says nothing yet: it may come in parts.
    if (this.#held === undefined || this.initFault !== undefined) this.#markSeen();
  }

  /** What of `pieces` is to be handed on now, with what was held back before it. */
  #sift(held: readonly OutputPiece[], pieces: readonly OutputPiece[]): readonly OutputPiece[] {
    const all = [...held, ...pieces];
    const text = all.map(({ bytes }) => Buffer.from(bytes).toString('latin1')).join('');
    const isInit =
      text.length <= MAX_INIT_WORDS_BYTES &&
      mayBeInitWords(text) &&
      all.every(({ stream }) => stream !== 'stdout');
    this.#heldText = isInit ? text : '';
    // What is kept longer than the event must not point into a buffer of the stream.
    this.#held = isInit ? all.map(({ stream, bytes }) => ({ stream, bytes: Buffer.from(bytes) })) : undefined;
    return isInit ? [] : all;
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
    this.#markSeen();
    if (!this.#isBusy) this.#markEnded();
  }
}
