import type { Writable } from 'node:stream';
import { err, ok, type Result } from '../result.js';

/** Unread input is not kept beyond this: a program that never reads must not fill the memory. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** The way in to a container's first process, through the attached stream. */
export class ContainerInput {
  readonly #stream: Writable;
  readonly #isTerminal: boolean;
  #isEnded = false;

  constructor(stream: Writable, options: { readonly isTerminal: boolean }) {
    this.#stream = stream;
    this.#isTerminal = options.isTerminal;
  }

  /** Takes the bytes into the line in front of the program, which reads when it likes. */
  write(bytes: Uint8Array): Result<void> {
    if (this.#isEnded || !this.#stream.writable) return inputClosed();
    const unread = this.#stream.writableLength;
    if (unread + bytes.length > MAX_UNREAD_BYTES) {
      return err(
        'INPUT_FULL',
        `The process has left ${unread} bytes of its input unread, and more than ${MAX_UNREAD_BYTES} are not kept for it.`,
        'Wait until it reads, or end it.',
      );
    }
    this.#stream.write(Buffer.from(bytes));
    return ok(undefined);
  }

  end(): Result<void> {
    if (this.#isTerminal) {
      return err(
        'NO_TERMINAL',
        'A terminal has no end of input that could be closed.',
        'Send the key ctrl-d, which most programs take for the end of input.',
      );
    }
    if (this.#isEnded || !this.#stream.writable) return inputClosed();
    this.#isEnded = true;
    this.#stream.end();
    return ok(undefined);
  }
}

function inputClosed(): Result<never> {
  return err(
    'INPUT_CLOSED',
    'The input of the process is closed.',
    'Start it again to give it input, or end it.',
  );
}
