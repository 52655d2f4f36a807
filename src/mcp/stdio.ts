import type { Readable } from 'node:stream';
import {
  parseJSONRPCMessage,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { withinMs } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import { wireJson } from './answers.js';
import { serveConnection, type ServerParts } from './server.js';

/** What of a process the protocol needs. */
export interface ProcessStdio {
  readonly input: Readable;
  readonly output: WireOutput;
  /** Calls `listener` when the process is asked to end. */
  onSignal(listener: (signal: NodeJS.Signals) => void): Disposable;
  exit(code: number): void;
}

/** Where the protocol writes. `done` is called when the line is out, with the error if it never will be. */
interface WireOutput {
  write(line: Buffer, done: (error?: Error | null) => void): void;
  /** Bytes that were written and not yet taken by the reader. */
  readonly unreadBytes: number;
}

/** A client may close its end right behind its last request: answers that come at once still go out. */
const LAST_ANSWERS_MS = 120;
/** All of leaving: clients send the next harder signal after 100 to 400 ms. */
const LEAVE_MS = 250;
/** Claude Code sends SIGINT, then SIGTERM; a terminal that closes sends SIGHUP. */
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Serves one client over stdin and stdout until it is gone: end of input, closed output, or a signal. Then it disposes
 * and exits with code 0, at the latest 250 ms later. Resolves with the reason, for tests whose `exit` returns.
 */
export function serveUntilGone<Services>(
  parts: ServerParts<Services>,
  stdio: ProcessStdio,
  dispose: () => void | Promise<void>,
): Promise<string> {
  const { clock, logger } = parts;
  const store = new DisposableStore();
  return new Promise((resolve) => {
    let leaving = false;
    const leave = (reason: string, waitsForAnswers: boolean): void => {
      if (leaving) return;
      leaving = true;
      logger.info(`Shutting down: ${reason}`);
      const exit = () => {
        store.dispose();
        stdio.exit(0);
        resolve(reason);
      };
      store.add(clock.after(LEAVE_MS, exit));
      finish(waitsForAnswers)
        .catch((error: unknown) =>
          logger.warn('Not all could be closed on leaving', { error: messageOf(error) }),
        )
        .finally(exit);
    };
    const finish = async (waitsForAnswers: boolean): Promise<void> => {
      if (waitsForAnswers) await withinMs(clock, LAST_ANSWERS_MS, wire.settled());
      await connection.close();
      await dispose();
    };
    store.add(stdio.onSignal((signal) => leave(`received ${signal}`, false)));
    const wire = new StdioWire(stdio.input, stdio.output, (reason) => leave(reason, true));
    const connection = serveConnection(parts, wire);
  });
}

/**
 * Takes stdin, stdout and the signals of this process for the protocol. From then on stdout carries the protocol alone:
 * whatever else writes to `process.stdout` goes to stderr.
 */
export function claimProcessStdio(): ProcessStdio {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  Object.assign(stdout, { write: stderr.write.bind(stderr) });
  // Each failed write is reported to its writer; without a listener it would also end the process.
  stdout.on('error', () => undefined);
  return {
    input: stdin,
    output: {
      write: (line, done) => void write(line, done),
      get unreadBytes() {
        return stdout.writableLength;
      },
    },
    onSignal: (listener) => {
      for (const signal of END_SIGNALS) process.on(signal, listener);
      return toDisposable(() => {
        for (const signal of END_SIGNALS) process.off(signal, listener);
      });
    },
    exit: (code) => process.exit(code),
  };
}

const NEWLINE = 0x0a;
const LINE_END = Buffer.from([NEWLINE]);
/** The limit of the SDK's own transports, on both ends. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** A client that reads nothing for thirty large answers is not coming back. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;
/** Open until one side closes it; the SDK answers it with notifications. */
const NEVER_ANSWERED = 'subscriptions/listen';

type MessageId = string | number;
const withId = z.object({ id: z.union([z.string(), z.number()]) });

/**
 * The protocol over a pair of streams, one message a line. A line that is no message is answered with a JSON-RPC error, and the
 * session goes on; a line over the limit is counted and not held, so its error has no id. The SDK's own transport answers neither, and closes
 * the connection at 10 MiB and at the end of the input, without the answers that are due.
 */
class StdioWire implements Transport {
  readonly #input: Readable;
  readonly #output: WireOutput;
  readonly #onGone: (reason: string) => void;
  readonly #unanswered = new Set<MessageId>();
  #onSettled = (): void => undefined;
  /** The line that has begun: nothing is held of one over the limit. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #closed = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  /** `onGone` gets the reason in words when the other side is gone: its input ended, or it takes no output any more. */
  constructor(input: Readable, output: WireOutput, onGone: (reason: string) => void) {
    this.#input = input;
    this.#output = output;
    this.#onGone = onGone;
  }

  /** Resolves when no request is open: each was answered or cancelled. */
  settled(): Promise<void> {
    if (this.#unanswered.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onSettled = resolve));
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read);
    this.#input.on('end', this.#ended);
    this.#input.on('close', this.#ended);
    this.#input.on('error', (error) => {
      this.onerror?.(error);
      this.#ended();
    });
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#ended);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('The connection is closed.'));
    const answered = 'method' in message ? undefined : message.id;
    return this.#write(message).finally(() => {
      if (answered !== undefined) this.#settle(answered);
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off('data', this.#read);
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
    this.#onGone('the input ended');
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
    this.#refuse(null, ProtocolErrorCode.InvalidRequest, text);
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // What is wrong with it is for the sender to see: it is answered.
      return this.#refuse(null, ProtocolErrorCode.ParseError, 'Parse error: the line is no JSON.');
    }
    const message = messageIn(value);
    if (message === undefined) {
      const id = withId.safeParse(value).data?.id ?? null;
      const text = 'Invalid request: the line is no JSON-RPC 2.0 message.';
      return this.#refuse(id, ProtocolErrorCode.InvalidRequest, text);
    }
    if ('method' in message && 'id' in message) {
      if (message.method !== NEVER_ANSWERED) this.#unanswered.add(message.id);
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      const cancelled = message.params?.['requestId'];
      if (typeof cancelled === 'string' || typeof cancelled === 'number') this.#settle(cancelled);
    }
    this.onmessage?.(message);
  }

  #settle(id: MessageId): void {
    if (this.#unanswered.delete(id) && this.#unanswered.size === 0) this.#onSettled();
  }

  #refuse(id: MessageId | null, code: number, message: string): void {
    // A failed write ends the session anyway.
    this.#write({ jsonrpc: '2.0', id, error: { code, message } }).catch((error: unknown) => {
      if (error instanceof Error) this.onerror?.(error);
    });
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#output.write(Buffer.concat([...wireJson(message), LINE_END]), (error) => {
        if (error === undefined || error === null) return resolve();
        reject(error);
        if (!this.#closed) this.#onGone('the output was closed');
      });
      if (!this.#closed && this.#output.unreadBytes > MAX_UNREAD_BYTES)
        this.#onGone('the output is not read');
    });
  }
}

function messageIn(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    // The one thing it throws for is a value that is no message: that is answered.
    return undefined;
  }
}
