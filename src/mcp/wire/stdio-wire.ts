import type { Readable } from 'node:stream';
import {
  parseJSONRPCMessage,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { Emitter, type Event } from '../../base/lifecycle.js';
import { isObject } from '../json-object.js';

type MessageId = string | number;

const NEWLINE = 0x0a;

/** Where the protocol writes. `done` is called when the text is out, with the error if it never will be. */
export interface WireOutput {
  write(text: string, done: (error?: Error | null) => void): void;
  /** Bytes that were written and not yet taken by the reader. */
  readonly unreadBytes: number;
}

/** The limit of the SDK's own transports, on both ends. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** A client that reads nothing for thirty large answers is not coming back. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;
/** Open until one side closes it; the SDK answers it with notifications. */
const NEVER_ANSWERED = 'subscriptions/listen';

/**
 * The protocol over a pair of streams, one message a line. A line that is no message is answered with a JSON-RPC error, and the
 * session goes on; a line over the limit is counted and not held, so its error has no id. The SDK's own transport answers neither, and closes
 * the connection at 10 MiB and at the end of the input, without the answers that are due.
 */
export class StdioWire implements Transport {
  readonly #input: Readable;
  readonly #output: WireOutput;
  readonly #unanswered = new Set<MessageId>();
  readonly #answered = new Emitter<void>();
  readonly #gone = new Emitter<string>();
  /** The line that has begun: nothing is held of one over the limit. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #closed = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(input: Readable, output: WireOutput) {
    this.#input = input;
    this.#output = output;
  }

  /** Fires when the other side is gone, with the reason in words: its input ended, or it takes no output any more. */
  get onGone(): Event<string> {
    return this.#gone.event;
  }

  /** Fires whenever the last open request was answered or cancelled. */
  get onSettled(): Event<void> {
    return this.#answered.event;
  }

  get hasOpenRequests(): boolean {
    return this.#unanswered.size > 0;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read);
    this.#input.on('end', this.#ended);
    this.#input.on('close', this.#ended);
    this.#input.on('error', this.#failed);
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#ended);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('The connection is closed.'));
    const isAnswer = !('method' in message);
    return this.#write(message).finally(() => {
      if (isAnswer && message.id !== undefined) this.#settle(message.id);
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off('data', this.#read);
    this.#input.off('end', this.#ended);
    this.#input.off('close', this.#ended);
    this.#input.pause();
    this.onclose?.();
  }

  readonly #read = (chunk: Buffer): void => {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#hold(rest.subarray(0, end));
      this.#endLine();
      rest = rest.subarray(end + 1);
    }
    this.#hold(rest);
  };

  readonly #ended = (): void => {
    if (this.#closed) return;
    // A last line without its newline counts.
    if (this.#bytes > 0) this.#endLine();
    this.#gone.fire('the input ended');
  };

  readonly #failed = (error: Error): void => {
    this.onerror?.(error);
    this.#ended();
  };

  #hold(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MAX_MESSAGE_BYTES) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #endLine(): void {
    const bytes = this.#bytes;
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#bytes = 0;
    if (bytes <= MAX_MESSAGE_BYTES) return this.#take(line);
    const text = `MESSAGE_TOO_LARGE: the message is ${bytes} bytes long; the limit is ${MAX_MESSAGE_BYTES}. Send less, or write it to a file and name the file.`;
    this.#refuse(undefined, ProtocolErrorCode.InvalidRequest, text);
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // What is wrong with it is for the sender to see: it is answered.
      return this.#refuse(undefined, ProtocolErrorCode.ParseError, 'Parse error: the line is no JSON.');
    }
    const message = messageOf(value);
    if (message === undefined) {
      const id =
        isObject(value) && (typeof value['id'] === 'string' || typeof value['id'] === 'number')
          ? value['id']
          : undefined;
      return this.#refuse(
        id,
        ProtocolErrorCode.InvalidRequest,
        'Invalid request: the line is no JSON-RPC 2.0 message.',
      );
    }
    this.#note(message);
    this.onmessage?.(message);
  }

  #note(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) {
      if (message.method !== NEVER_ANSWERED) this.#unanswered.add(message.id);
      return;
    }
    const cancelledId =
      message.method === 'notifications/cancelled' ? message.params?.['requestId'] : undefined;
    if (typeof cancelledId === 'string' || typeof cancelledId === 'number') this.#settle(cancelledId);
  }

  #settle(id: MessageId): void {
    if (this.#unanswered.delete(id) && this.#unanswered.size === 0) this.#answered.fire();
  }

  #refuse(id: MessageId | undefined, code: number, message: string): void {
    // A failed write ends the session anyway.
    this.#write({ jsonrpc: '2.0', id: id ?? null, error: { code, message } }).catch((error: unknown) => {
      if (error instanceof Error) this.onerror?.(error);
    });
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error === undefined || error === null) return resolve();
        reject(error);
        if (!this.#closed) this.#gone.fire('the output was closed');
      });
      if (!this.#closed && this.#output.unreadBytes > MAX_UNREAD_BYTES)
        this.#gone.fire('the output is not read');
    });
  }
}

function messageOf(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    // The one thing it throws for is a value that is no message: that is answered.
    return undefined;
  }
}
