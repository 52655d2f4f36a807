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
import { Emitter, nextEvent, toDisposable, type Disposable } from '../base/lifecycle.js';
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
/** What a peer has begun is finished when its line is cut; longer than a merge takes. */
const PEER_LEAVE_MS = 30_000;
/** Claude Code sends SIGINT, then SIGTERM; a terminal that closes sends SIGHUP. */
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Serves one client over stdin and stdout until it is gone: end of input, closed output, or a signal. Then it disposes
 * and exits with code 0, at the latest 250 ms later; with a peer, when what that has begun is done. Resolves with the reason, for tests whose `exit` returns.
 */
export async function serveUntilGone<Services>(
  parts: ServerParts<Services>,
  stdio: ProcessStdio,
  dispose: () => void | Promise<void>,
): Promise<string> {
  const { clock, logger, peer } = parts;
  const gone = new Emitter<{ readonly reason: string; readonly isKilled: boolean }>();
  const first = nextEvent(gone.event);
  const signals = stdio.onSignal((signal) => gone.fire({ reason: `received ${signal}`, isKilled: true }));
  const silence = silenceOf(parts, (reason) => gone.fire({ reason, isKilled: true }));
  const wire = new StdioWire(stdio, (reason) => gone.fire({ reason, isKilled: false }), silence.heard);
  const connection = serveConnection(parts, wire);
  const { reason, isKilled } = await first;
  logger.info(`Shutting down: ${reason}`);
  const finish = async (): Promise<void> => {
    if (peer !== undefined) await withinMs(clock, PEER_LEAVE_MS, peer.settled());
    if (!isKilled) await withinMs(clock, LAST_ANSWERS_MS, wire.settled());
    await connection.close();
    await dispose();
  };
  await withinMs(clock, peer === undefined ? LEAVE_MS : PEER_LEAVE_MS + LEAVE_MS, finish()).catch(
    (error: unknown) => logger.warn('Not all could be closed on leaving', { error: messageOf(error) }),
  );
  signals.dispose();
  silence.dispose();
  stdio.exit(0);
  return reason;
}

/** Calls `onGone` when a peer has been silent for too long; `heard` is called with each byte of it. */
function silenceOf<Services>({ peer, clock }: ServerParts<Services>, onGone: (reason: string) => void) {
  let timer: Disposable | undefined;
  const heard = (): void => {
    if (peer === undefined) return;
    timer?.dispose();
    timer = clock.after(peer.silenceMs, () => onGone(`nothing came for ${peer.silenceMs / 1_000} s`));
  };
  heard();
  return { heard, dispose: () => timer?.dispose() };
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
  readonly #stdio: Pick<ProcessStdio, 'input' | 'output'>;
  readonly #onGone: (reason: string) => void;
  readonly #onBytes: () => void;
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
  constructor(
    stdio: Pick<ProcessStdio, 'input' | 'output'>,
    onGone: (reason: string) => void,
    onBytes: () => void,
  ) {
    this.#stdio = stdio;
    this.#onGone = onGone;
    this.#onBytes = onBytes;
  }

  /** Resolves when no request is open: each was answered or cancelled. */
  async settled(): Promise<void> {
    if (this.#unanswered.size > 0) await new Promise<void>((resolve) => (this.#onSettled = resolve));
  }

  async start(): Promise<void> {
    const { input } = this.#stdio;
    input.on('data', this.#read);
    input.on('end', this.#ended);
    input.on('close', this.#ended);
    input.on('error', (error) => {
      this.onerror?.(error);
      this.#ended();
    });
    if (input.readableEnded || input.destroyed) setImmediate(this.#ended);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error('The connection is closed.');
    try {
      await this.#write(message);
    } finally {
      if (!('method' in message) && message.id !== undefined) this.#settle(message.id);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stdio.input.off('data', this.#read);
    this.#stdio.input.pause();
    this.onclose?.();
  }

  readonly #read = (chunk: Buffer): void => {
    this.#onBytes();
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
    this.#endLine();
    this.#onGone('the input ended');
  };

  #hold(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MAX_MESSAGE_BYTES) this.#parts = [];
    else this.#parts.push(part);
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
    let message: JSONRPCMessage;
    try {
      value = JSON.parse(line);
      message = parseJSONRPCMessage(value);
    } catch {
      // What is wrong with it is for the sender to see: it is answered.
      if (value === undefined)
        return this.#refuse(null, ProtocolErrorCode.ParseError, 'Parse error: the line is no JSON.');
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
    const { output } = this.#stdio;
    return new Promise((resolve, reject) => {
      output.write(Buffer.concat([...wireJson(message), LINE_END]), (error) => {
        if (error === undefined || error === null) return resolve();
        reject(error);
        if (!this.#closed) this.#onGone('the output was closed');
      });
      if (!this.#closed && output.unreadBytes > MAX_UNREAD_BYTES) this.#onGone('the output is not read');
    });
  }
}
