import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import { Emitter, type Disposable } from '../../base/lifecycle.js';
import { RESET_TERMINAL } from '../../screen/reset-terminal.js';

const STDOUT_FD = 1;

/** Signals that end an attached terminal, with their numbers: 128 and the number is the exit code. */
const endings = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/** The terminal of the person who runs this command, in raw mode until it is disposed, whatever ends the process. */
export class UserTerminal implements Disposable {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #keys = new Emitter<Buffer>();
  readonly #resizes = new Emitter<void>();
  readonly #ends = new Emitter<{ readonly why: string; readonly exitCode: number }>();
  readonly onKeys = this.#keys.event;
  readonly onResize = this.#resizes.event;
  /** A signal, or the terminal is gone: leave now. */
  readonly onEnd = this.#ends.event;
  readonly #release: (() => void)[] = [];
  #isRaw = false;

  constructor(input: ReadStream, output: WriteStream) {
    this.#input = input;
    this.#output = output;
  }

  open(): void {
    const restore = (): void => this.dispose();
    const onData = (typed: Buffer): void => this.#keys.fire(typed);
    const onResize = (): void => this.#resizes.fire();
    const onGone = (): void =>
      this.#ends.fire({ why: 'The terminal is gone.', exitCode: 128 + endings.SIGHUP });
    process.once('exit', restore);
    this.#input.on('data', onData).on('end', onGone).on('error', onGone);
    this.#output.on('resize', onResize).on('error', onGone);
    this.#release.push(
      () => process.removeListener('exit', restore),
      () => this.#input.removeListener('data', onData).removeListener('end', onGone),
      () => this.#output.removeListener('resize', onResize),
    );
    for (const [name, number] of Object.entries(endings)) {
      const onSignal = (): void => this.#ends.fire({ why: `Ended by ${name}.`, exitCode: 128 + number });
      process.on(name, onSignal);
      this.#release.push(() => process.removeListener(name, onSignal));
    }
    this.#isRaw = true;
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
    for (const release of this.#release.splice(0)) release();
    if (!this.#isRaw) return;
    this.#isRaw = false;
    try {
      writeSync(STDOUT_FD, `${RESET_TERMINAL}\x1b[${this.size.rows};1H\x1b[K\r\n`);
    } catch {
      // The terminal is gone or takes nothing now: there is nothing to restore, or no one to see it.
    }
    this.#input.setRawMode(false);
    this.#input.pause();
  }
}
