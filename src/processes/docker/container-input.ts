import { BridgeError } from '../../base/errors.js';
import type { Writable } from 'node:stream';

/** Unread input is not kept beyond this: a program that never reads must not fill the memory. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** The way in to a container's first process, through the attached stream. Throws INPUT_REFUSED. */
export class ContainerInput {
  readonly #stream: Writable;
  readonly #isTerminal: boolean;
  #isEnded = false;

  constructor(stream: Writable, options: { readonly isTerminal: boolean }) {
    this.#stream = stream;
    this.#isTerminal = options.isTerminal;
  }

  /** Takes the bytes into the line in front of the program, which reads when it likes. */
  write(bytes: Uint8Array): void {
    if (this.#isEnded || !this.#stream.writable) throw inputClosed();
    const unread = this.#stream.writableLength;
    if (unread + bytes.length > MAX_UNREAD_BYTES) {
      throw new BridgeError(
        'INPUT_REFUSED',
        `The process has left ${unread} bytes of its input unread, and more than ${MAX_UNREAD_BYTES} are not kept for it.`,
        'Wait until it reads, or end it.',
      );
    }
    this.#stream.write(Buffer.from(bytes));
  }

  end(): void {
    if (this.#isTerminal) {
      throw new BridgeError(
        'NO_TERMINAL',
        'A terminal has no end of input that could be closed.',
        'Send the key ctrl-d, which most programs take for the end of input.',
      );
    }
    if (this.#isEnded || !this.#stream.writable) throw inputClosed();
    this.#isEnded = true;
    this.#stream.end();
  }
}

function inputClosed(): BridgeError {
  return new BridgeError(
    'INPUT_REFUSED',
    'The input of the process is closed.',
    'Start it again to give it input, or end it.',
  );
}
