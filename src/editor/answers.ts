import { sleep, type Clock } from '../base/clock.js';
import type { BridgeError } from '../base/errors.js';
import type { EditorMessage } from './protocol.js';

/** An answer, and of a command its beginning and its end; more come only from an extension that does not keep to the messages. */
const MAX_WAITING = 16;

/** The messages that come for one request, in their order. */
export class Answers {
  readonly #clock: Clock;
  readonly #waiting: EditorMessage[] = [];
  #wake: () => void = () => undefined;
  #fault: BridgeError | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  push(message: EditorMessage): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(message);
    this.#wake();
  }

  /** Nothing comes any more. */
  fail(fault: BridgeError): void {
    this.#fault ??= fault;
    this.#wake();
  }

  /** Undefined when none came within the limit. Throws what the connection failed with. */
  async next(limitMs: number): Promise<EditorMessage | undefined> {
    if (this.#waiting.length === 0 && this.#fault === undefined) await this.#arrival(limitMs);
    const message = this.#waiting.shift();
    if (message === undefined && this.#fault !== undefined) throw this.#fault;
    return message;
  }

  async #arrival(limitMs: number): Promise<void> {
    const arrived = new AbortController();
    this.#wake = () => arrived.abort();
    await sleep(this.#clock, limitMs, arrived.signal);
  }
}
