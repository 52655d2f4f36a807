// Pure.
import type { Duplex, Readable } from 'node:stream';
import { messageOf } from '../../../base/errors.js';
import type { Disposable } from '../../../base/lifecycle.js';
import { RelayMessages } from './relay-messages.js';

/** Answers the input of a hook; `gone` aborts when the hook no longer waits. */
export type AnswerHook = (body: Buffer, gone: AbortSignal) => Promise<string>;

/** A hook whose answer failed goes on as if there were none. */
const NO_OPINION = '{}';

interface HookRelayOptions {
  /** Takes the relay's stdin. */
  readonly input: Duplex;
  /** The relay's stdout. */
  readonly output: Readable;
  readonly answer: AnswerHook;
  readonly onFault: (text: string) => void;
}

/** The keeper's end of the relay in a container: each ask of a hook is answered on the same stream. */
export class HookRelay implements Disposable {
  readonly #options: HookRelayOptions;
  readonly #asking = new Map<string, AbortController>();
  /** Resolves when the relay runs and has let the program begin; false when it ended before. */
  readonly ready: Promise<boolean>;
  #setReady: (isReady: boolean) => void = () => undefined;

  constructor(options: HookRelayOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => (this.#setReady = resolve));
    const messages = new RelayMessages();
    options.output.on('data', (chunk: Buffer) => this.#read(messages, chunk));
    // The relay ends with its container; the child reports that end, with its code.
    for (const event of ['end', 'close', 'error'] as const) options.input.on(event, () => this.#close());
  }

  /** Ends the relay, and with it the container. */
  dispose(): void {
    this.#close();
    this.#options.input.destroy();
  }

  #read(messages: RelayMessages, chunk: Buffer): void {
    try {
      for (const message of messages.read(chunk)) {
        if (message.type === 'ready') this.#setReady(true);
        else if (message.type === 'gone') this.#forget(message.id);
        else void this.#ask(message.id, message.body);
      }
    } catch (error) {
      this.#options.onFault(`Hooks no longer reach the keeper: ${messageOf(error)}`);
      this.#close();
    }
  }

  async #ask(id: string, body: Buffer): Promise<void> {
    // The number of a process that has ended may be used again before its end was reported.
    this.#forget(id);
    const gone = new AbortController();
    this.#asking.set(id, gone);
    const answer = await this.#options.answer(body, gone.signal).catch((error: unknown) => {
      if (!gone.signal.aborted) this.#options.onFault(`A hook could not be answered: ${messageOf(error)}`);
      return NO_OPINION;
    });
    if (this.#asking.get(id) !== gone) return;
    if (this.#options.input.writable) this.#options.input.write(`${id}\n${answer}\n`);
  }

  #forget(id: string): void {
    this.#asking.get(id)?.abort();
    this.#asking.delete(id);
  }

  #close(): void {
    this.#setReady(false);
    for (const id of [...this.#asking.keys()]) this.#forget(id);
  }
}
