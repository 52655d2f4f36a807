import type { Program } from '../connection/client.js';
import type { BridgeTerminal, OutputReader } from '../terminals/bridge-terminal.js';
import { outputMessage } from './output-message.js';

const PIECE_CHARS = 64 * 1024;

/** Sends what a terminal prints to one program, as fast as that takes it. */
export class Follower implements OutputReader {
  readonly #id: string;
  readonly #terminal: BridgeTerminal;
  readonly #program: Program;
  readonly #stop = new AbortController();
  #cursor: number;
  #pumping: Promise<void> | undefined;

  constructor(id: string, terminal: BridgeTerminal, program: Program, cursor: number) {
    this.#id = id;
    this.#terminal = terminal;
    this.#program = program;
    this.#cursor = cursor;
    terminal.readers.add(this);
    this.#stop.signal.addEventListener('abort', () => terminal.readers.delete(this), { once: true });
    const subscription = terminal.output.onAppend(() => void this.#pump());
    this.#stop.signal.addEventListener('abort', () => subscription.dispose(), { once: true });
    program.gone.addEventListener('abort', () => this.#stop.abort(), {
      once: true,
      signal: this.#stop.signal,
    });
    void this.#pump();
  }

  get behind(): number {
    return this.#terminal.output.end - this.#cursor;
  }

  caughtUp(): Promise<void> {
    return this.#pump();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Stops when all that is there was sent. */
  async finish(): Promise<void> {
    await this.#pump();
    this.#stop.abort();
  }

  #pump(): Promise<void> {
    this.#pumping ??= this.#send().finally(() => (this.#pumping = undefined));
    return this.#pumping;
  }

  async #send(): Promise<void> {
    while (!this.#stop.signal.aborted && this.#cursor < this.#terminal.output.end) {
      const message = outputMessage(this.#id, this.#terminal, this.#cursor, PIECE_CHARS);
      this.#cursor = message.cursor;
      await this.#program.send(message);
    }
  }
}
