import type { Duplex } from 'node:stream';
import { withinMs, type Clock } from '../../base/clock.js';
import { Emitter } from '../../base/event.js';
import type { ExitStatus } from '../../pty/exit-status.js';
import type { PtySession } from '../../pty/pty-session.js';
import { containerExitStatus, LOST_WORDS } from './container-exit-status.js';

/** Keys are a few bytes and a pasted prompt some hundred kilobytes; more than this is a program that no longer reads. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** The engine closes the stream when all has been sent and tells the end of the container beside it, in either order. */
const OTHER_END_LIMIT_MS = 10_000;

export interface DockerPtyOptions {
  /** Both ways of the container's terminal, not yet read from. */
  readonly stream: Duplex;
  /** The exit code once the container is gone; undefined when the engine went away before it could tell. Never rejects. */
  readonly gone: Promise<number | undefined>;
  readonly resize: (columns: number, rows: number) => void;
  /** Why SIGKILL ended the program, where that is known. Never rejects. */
  readonly whyKilled: () => Promise<string | undefined>;
  /** Ends the container at once. */
  readonly end: () => void;
  readonly clock: Clock;
}

/** A program in the terminal of a container. All of its output has been read when it ends: the engine sends it whole. */
export class DockerPtySession implements PtySession {
  /** None that this machine could signal. */
  readonly pid = 0;
  readonly exited: Promise<ExitStatus>;
  readonly #options: DockerPtyOptions;
  readonly #data = new Emitter<Buffer>();
  readonly #exit = new Emitter<ExitStatus>();
  #pauses = 0;
  #ended = false;

  constructor(options: DockerPtyOptions) {
    this.#options = options;
    this.exited = new Promise((resolve) => this.#exit.event(resolve));
    const { stream } = options;
    const read = new Promise<void>((resolve) => {
      for (const event of ['end', 'close', 'error'] as const) stream.on(event, () => resolve());
    });
    stream.on('data', (chunk: Buffer) => {
      if (!this.#ended) this.#data.fire(chunk);
    });
    void this.#finish(read);
  }

  get onData() {
    return this.#data.event;
  }

  get onExit() {
    return this.#exit.event;
  }

  write(data: string | Uint8Array): boolean {
    const { stream } = this.#options;
    if (this.#ended || !stream.writable || stream.writableLength > MAX_UNREAD_BYTES) return false;
    stream.write(data);
    return true;
  }

  resize(columns: number, rows: number): void {
    if (!this.#ended) this.#options.resize(columns, rows);
  }

  /** The engine stops reading the terminal when its own buffers are full. */
  pause(): void {
    this.#pauses++;
    if (this.#pauses === 1 && !this.#ended) this.#options.stream.pause();
  }

  resume(): void {
    if (this.#pauses === 0) return;
    this.#pauses--;
    if (this.#pauses === 0 && !this.#ended) this.#options.stream.resume();
  }

  dispose(): void {
    if (!this.#ended) this.#options.end();
  }

  async #finish(read: Promise<void>): Promise<void> {
    const { gone, clock, stream } = this.#options;
    await Promise.race([read, gone]);
    // A stream that is held back would never be seen to end.
    stream.resume();
    const [code] = await Promise.all([
      withinMs(clock, OTHER_END_LIMIT_MS, gone),
      withinMs(clock, OTHER_END_LIMIT_MS, read),
    ]);
    if (code === undefined) this.#data.fire(Buffer.from(`\r\n${LOST_WORDS}\r\n`));
    const status = await containerExitStatus(code, this.#options.whyKilled);
    this.#ended = true;
    stream.destroy();
    this.#exit.fire(status);
    this.#data.dispose();
    this.#exit.dispose();
  }
}
