// Pure.
import type { Duplex } from 'node:stream';
import { messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';

/** What the relay of a container says. */
export type RelayMessage =
  | { readonly type: 'ready' }
  /** A hook asks and waits. */
  | { readonly type: 'ask'; readonly id: string; readonly body: Buffer }
  /** It has ended, answered or not. */
  | { readonly type: 'gone'; readonly id: string };

/** The body of a hook holds a tool's whole input; more than this is no file a tool writes. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** A word, a pid and a number of bytes. */
const MAX_LINE_BYTES = 100;
const LINE_FEED = 0x0a;
const MESSAGE = /^(ready|gone \d{1,10}|ask \d{1,10} \d{1,10})$/;

/**
 * Reads messages out of the relay's output, wherever its chunks are cut. Throws for what no relay says: something else in the
 * container writes there, and nothing after it can be believed.
 */
export async function* relayMessages(output: AsyncIterable<unknown>): AsyncGenerator<RelayMessage> {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  /** The ask whose body is being read. */
  let asked: { readonly id: string; readonly bytes: number } | undefined;
  for await (const chunk of output) {
    if (!(chunk instanceof Uint8Array)) continue;
    chunks.push(chunk);
    bytes += chunk.length;
    // A body of megabytes comes in thousands of chunks: they are joined once.
    if (asked !== undefined && bytes < asked.bytes) continue;
    let rest = Buffer.concat(chunks);
    for (;;) {
      if (asked !== undefined) {
        if (rest.length < asked.bytes) break;
        yield { type: 'ask', id: asked.id, body: rest.subarray(0, asked.bytes) };
        rest = rest.subarray(asked.bytes);
        asked = undefined;
      }
      const end = rest.indexOf(LINE_FEED);
      if (end === -1 && rest.length <= MAX_LINE_BYTES) break;
      const line = rest.toString('latin1', 0, Math.max(0, end));
      rest = rest.subarray(end + 1);
      if (!MESSAGE.test(line)) throw new Error('the relay of the container said what no relay says');
      const [word, id = '', size = '0'] = line.split(' ');
      if (Number(size) > MAX_BODY_BYTES) throw new Error(`a hook was asked about ${size} bytes`);
      if (word === 'ready') yield { type: 'ready' };
      else if (word === 'gone') yield { type: 'gone', id };
      else asked = { id, bytes: Number(size) };
    }
    chunks = [rest];
    bytes = rest.length;
  }
}

/** Answers the input of a hook; `gone` aborts when the hook no longer waits. */
export type AnswerHook = (body: Buffer, gone: AbortSignal) => Promise<string>;

/** A hook whose answer failed goes on as if there were none. */
const NO_OPINION = '{}';

interface HookRelayOptions {
  /** Takes the relay's stdin. */
  readonly input: Duplex;
  /** The relay's stdout. */
  readonly output: AsyncIterable<unknown>;
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
    // The relay ends with its container; the child reports that end, with its code.
    this.#read()
      .catch((error: unknown) => options.onFault(`Hooks no longer reach the keeper: ${messageOf(error)}`))
      .finally(() => this.#close());
  }

  /** Ends the relay, and with it the container. */
  dispose(): void {
    this.#close();
    this.#options.input.destroy();
  }

  async #read(): Promise<void> {
    for await (const message of relayMessages(this.#options.output)) {
      if (message.type === 'ready') this.#setReady(true);
      else if (message.type === 'gone') this.#forget(message.id);
      else void this.#ask(message.id, message.body);
    }
  }

  async #ask(id: string, body: Buffer): Promise<void> {
    const { answer, input, onFault } = this.#options;
    // The number of a process that has ended may be used again before its end was reported.
    this.#forget(id);
    const gone = new AbortController();
    this.#asking.set(id, gone);
    const text = await answer(body, gone.signal).catch((error: unknown) => {
      if (!gone.signal.aborted) onFault(`A hook could not be answered: ${messageOf(error)}`);
      return NO_OPINION;
    });
    if (this.#asking.get(id) === gone && input.writable) input.write(`${id}\n${text}\n`);
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
