import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Disposable } from '../../base/lifecycle.js';
import { RESET_TERMINAL } from '../../screen/reset-terminal.js';

const STDOUT_FD = 1;
/** Signals that end an attached terminal, with their numbers: 128 and the number is the exit code. */
const endings = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/** What happens at a person's terminal. */
export interface TerminalEvents {
  readonly typed: (keys: Buffer) => void;
  readonly resized: () => void;
  /** A signal came, or the terminal is gone: leave now. */
  readonly ended: (why: string, exitCode: number) => void;
}

/** The terminal of the person who runs this command, in raw mode from `open` until it is disposed, whatever ends the process. */
export class UserTerminal implements Disposable {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #release: (() => void)[] = [];

  constructor(input: ReadStream, output: WriteStream) {
    this.#input = input;
    this.#output = output;
  }

  open({ typed, resized, ended }: TerminalEvents): void {
    const on = (source: NodeJS.EventEmitter, name: string, act: (data: Buffer) => void): void => {
      source.on(name, act);
      this.#release.push(() => source.removeListener(name, act));
    };
    const gone = (): void => ended('The terminal is gone.', 128 + endings.SIGHUP);
    on(process, 'exit', () => this.dispose());
    on(this.#input, 'data', typed);
    on(this.#input, 'end', gone);
    on(this.#output, 'resize', resized);
    for (const [name, number] of Object.entries(endings))
      on(process, name, () => ended(`Ended by ${name}.`, 128 + number));
    // These stay: an error may come after the end.
    this.#input.on('error', gone);
    this.#output.on('error', gone);
    this.#input.setRawMode(true);
    this.#input.resume();
  }

  get size(): { readonly columns: number; readonly rows: number } {
    // A terminal that does not know its size says 0.
    return { columns: this.#output.columns || 80, rows: this.#output.rows || 24 };
  }

  /** False when the terminal does not keep up: wait for `drained`. */
  write(data: string | Uint8Array): boolean {
    return this.#output.write(data);
  }

  drained(): Promise<void> {
    return new Promise((resolve) => this.#output.once('drain', resolve));
  }

  /** Gives the terminal back as it was, below what was shown. May run in a process that is ending. */
  dispose(): void {
    if (this.#release.length === 0) return;
    for (const release of this.#release.splice(0)) release();
    try {
      writeSync(STDOUT_FD, `${RESET_TERMINAL}\x1b[${this.size.rows};1H\x1b[K\r\n`);
    } catch {
      // The terminal is gone or takes nothing now: there is nothing to restore, or no one to see it.
    }
    this.#input.setRawMode(false);
    this.#input.pause();
  }
}
