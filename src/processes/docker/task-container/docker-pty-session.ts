import { Emitter } from '../../../base/event.js';
import type { ExitStatus } from '../../../pty/exit-status.js';
import type { PtySession } from '../../../pty/pty-session.js';
import { attachedExit, codeBehindOutput, LOST_WORDS, type Attached } from './attached-end.js';

/** Keys are a few bytes and a pasted prompt some hundred kilobytes; more than this is a program that no longer reads. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

export interface DockerPtyOptions extends Attached {
  readonly resize: (columns: number, rows: number) => void;
  /** Ends the container at once. */
  readonly end: () => void;
}

/** A program in the terminal of a container. All of its output has been read when it ends: the engine sends it whole. */
export class DockerPtySession implements PtySession {
  /** None that this machine could signal. */
  readonly pid = undefined;
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
    stream.on('data', (chunk: Buffer) => {
      if (!this.#ended) this.#data.fire(chunk);
    });
    void this.#finish();
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

  async #finish(): Promise<void> {
    const { stream } = this.#options;
    // A stream that is held back would never be seen to end.
    const code = await codeBehindOutput(this.#options, () => stream.resume());
    if (code === undefined) this.#data.fire(Buffer.from(`\r\n${LOST_WORDS}\r\n`));
    const status = await attachedExit(code, this.#options);
    this.#ended = true;
    stream.destroy();
    this.#exit.fire(status);
    this.#data.dispose();
    this.#exit.dispose();
  }
}
