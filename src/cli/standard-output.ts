import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { messageOf, systemCodeOf } from '../base/errors.js';
import { terminalText } from './own-sequences.js';

/** stdout of a command, whose reader may go away and whose disk may be full. What is written after that is lost. */
export class StandardOutput {
  readonly #stream: Writable;
  readonly #lost = new AbortController();
  #failure: string | undefined;
  #room: Promise<undefined> | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    // `claude-code-bridge demo | head`: the reader of the output may be gone; the command still cleans up.
    stream.on('error', (error) => this.#onError(error));
  }

  /** Aborted when nothing more can be written: what only prints may end. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Writes a text as `terminalText`, bytes as they are. Resolves when it takes more, or nothing any more: what prints much waits for that. */
  readonly write = async (data: string | Uint8Array): Promise<void> => {
    if (this.#lost.signal.aborted) return;
    if (this.#stream.write(typeof data === 'string' ? terminalText(data) : data)) return;
    // One for all that wait: a command may write on without waiting.
    this.#room ??= once(this.#stream, 'drain', { signal: this.#lost.signal }).then(
      () => (this.#room = undefined),
      () => undefined,
    );
    await this.#room;
  };

  /** Resolves when all was written, or cannot be: with the reason, unless its reader just left. */
  async end(): Promise<string | undefined> {
    if (!this.#lost.signal.aborted) await new Promise((resolve) => this.#stream.write('', resolve));
    // An error is reported after the write.
    await new Promise((resolve) => setImmediate(resolve));
    return this.#failure;
  }

  #onError(error: unknown): void {
    if (systemCodeOf(error) !== 'EPIPE') this.#failure ??= messageOf(error);
    this.#lost.abort();
  }
}
