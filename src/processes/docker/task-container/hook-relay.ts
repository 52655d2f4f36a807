// Pure.
import type { Duplex, Readable } from 'node:stream';
import { messageOf } from '../../../base/errors.js';
import type { Disposable } from '../../../base/lifecycle.js';

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

/** Reads messages out of the relay's output, wherever its chunks are cut. */
export class RelayMessages {
  #chunks: Buffer[] = [];
  #length = 0;
  /** The ask whose body is being read. */
  #asked: { readonly id: string; readonly bytes: number } | undefined;
  #isBroken = false;

  /**
   * The messages that are whole by now. Throws for what no relay says: something else in the container writes there, and
   * nothing after it can be believed.
   */
  read(chunk: Buffer): RelayMessage[] {
    if (this.#isBroken) return [];
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    // A body of megabytes comes in thousands of chunks: they are joined once.
    if (this.#asked !== undefined && this.#length < this.#asked.bytes) return [];
    let rest = Buffer.concat(this.#chunks);
    const messages: RelayMessage[] = [];
    for (;;) {
      if (this.#asked !== undefined) {
        if (rest.length < this.#asked.bytes) break;
        messages.push({ type: 'ask', id: this.#asked.id, body: rest.subarray(0, this.#asked.bytes) });
        rest = rest.subarray(this.#asked.bytes);
        this.#asked = undefined;
      }
      const end = rest.indexOf(LINE_FEED);
      if (end === -1) {
        if (rest.length > MAX_LINE_BYTES) this.#break();
        break;
      }
      const message = this.#readLine(rest.toString('latin1', 0, end));
      rest = rest.subarray(end + 1);
      if (message !== undefined) messages.push(message);
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    return messages;
  }

  #readLine(line: string): RelayMessage | undefined {
    if (line === 'ready') return { type: 'ready' };
    const [, word, id, bytes] = /^(ask|gone) (\d{1,10})(?: (\d{1,10}))?$/.exec(line) ?? [];
    if (id === undefined) return this.#break();
    if (word === 'gone') return { type: 'gone', id };
    if (bytes === undefined || Number(bytes) > MAX_BODY_BYTES) return this.#break();
    this.#asked = { id, bytes: Number(bytes) };
    return undefined;
  }

  #break(): never {
    this.#isBroken = true;
    this.#chunks = [];
    throw new Error('the relay of the container said what no relay says');
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
