import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../../src/base/clock.js';
import { messageOf } from '../../../src/base/errors.js';
import { problemsOf } from '../../../src/base/files/json-file.js';
import type { Disposable } from '../../../src/base/lifecycle.js';
import type { Logger } from '../../../src/base/logger.js';
import { socketJson } from '../../../src/base/input.js';
import { oneLine } from '../../../src/base/text.js';
import { editorRequestSchema, type EditorMessage, type EditorRequest } from '../../../src/editor/protocol.js';
import { EditorError } from '../editor-error.js';
import { z } from 'zod';

/** A program shows its token at once. */
const HELLO_LIMIT_MS = 10_000;
const MAX_OPEN_REQUESTS = 100;
/** What waits for a program that does not read; beyond it the connection is closed. */
const MAX_QUEUE_BYTES = 8 * 1024 * 1024;
/** Close codes of RFC 6455. */
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;
const MAX_LOGGED_CHARS = 300;
const UNNAMED = 'a program';
const SETTING = 'claudeTerminalBridge.allowWithoutToken';
/** At most 123 bytes. */
const CLOSE_REASON = `no token: see the error, or the setting ${SETTING}`;

/** A connected program, as those that answer it see it. */
export interface Program {
  /** How the person sees who made a terminal. */
  readonly name: string;
  /** Aborts when it has gone. */
  readonly gone: AbortSignal;
  /** The newest terminal of this connection. */
  terminalId: string | undefined;
  /** Resolves when the message was taken by the connection. */
  send(message: EditorMessage): Promise<void>;
}

/** How programs are let in and answered. */
export interface Answering {
  /** Where the token is. */
  readonly tokenFile: string;
  /** A program has shown no token, and would be let in without one if the setting said so. */
  readonly onUntold: (name: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly welcome: (id: string) => EditorMessage;
  readonly answer: (request: EditorRequest, program: Program) => Promise<EditorMessage>;
}

export interface ClientOptions extends Answering {
  readonly socket: WebSocket;
  /** Tells connections apart in the log. */
  readonly number: number;
  /** It has shown the token with its first request, or needs none. */
  readonly isKnown: boolean;
  readonly isToken: (shown: string) => boolean;
}

const withId = z.object({ id: z.string().min(1).max(128) });

/** One connection: what it may ask, and what it is sent. */
export class Client implements Program, Disposable {
  readonly #options: ClientOptions;
  readonly #helloLimit: Disposable;
  readonly #gone = new AbortController();
  readonly gone = this.#gone.signal;
  terminalId: string | undefined;
  #name = UNNAMED;
  #isKnown: boolean;
  #open = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#isKnown = options.isKnown;
    const { socket, clock, logger, number } = options;
    socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    // Its close follows.
    socket.on('error', (error) => logger.debug(`#${number} failed`, { error: messageOf(error) }));
    socket.on('close', (code) => {
      logger.info(`#${number} ${this.#name} has gone`, { code });
      this.dispose();
    });
    this.#helloLimit = clock.after(HELLO_LIMIT_MS, () => {
      if (!this.#isKnown) this.#closeUntold(UNNAMED);
    });
  }

  get name(): string {
    return this.#name;
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  send(message: EditorMessage): Promise<void> {
    const { socket } = this.#options;
    if (socket.readyState !== socket.OPEN) return Promise.resolve();
    if (socket.bufferedAmount > MAX_QUEUE_BYTES) {
      socket.close(TRY_AGAIN_LATER, 'it does not read');
      return Promise.resolve();
    }
    return new Promise((resolve) => socket.send(JSON.stringify(message), () => resolve()));
  }

  dispose(): void {
    this.#gone.abort();
    this.#helloLimit.dispose();
    this.#options.socket.terminate();
  }

  #received(data: RawData, isBinary: boolean): void {
    const json = isBinary ? undefined : socketJson(data);
    const request = editorRequestSchema.safeParse(json);
    if (request.success) return void this.#handle(request.data);
    const why = problemsOf(request.error);
    const id = withId.safeParse(json).data?.id;
    this.#sendError(id, new EditorError('INVALID_MESSAGE', why, 'See docs/editor-protocol.md.'));
    if (!this.#isKnown) this.#closeUntold(UNNAMED);
  }

  async #handle(request: EditorRequest): Promise<void> {
    const { logger, number, answer, welcome, isToken, tokenFile } = this.#options;
    logger.info(`#${number} → ${loggedRequest(request)}`);
    if (request.type === 'hello' && (request.token === undefined ? this.#isKnown : isToken(request.token))) {
      this.#isKnown = true;
      this.#name = request.client;
      return this.send(welcome(request.id));
    }
    if (!this.#isKnown || request.type === 'hello') {
      this.#sendError(request.id, noToken(tokenFile));
      this.#isKnown = false;
      const { client, token } = request.type === 'hello' ? request : { client: UNNAMED };
      return this.#closeUntold(token === undefined ? client : undefined);
    }
    this.#open += 1;
    try {
      if (this.#open > MAX_OPEN_REQUESTS)
        throw new EditorError('TOO_MANY', `${MAX_OPEN_REQUESTS} requests are open.`, 'Wait for answers.');
      const message = await answer(request, this);
      logger.info(`#${number} ← ${message.type} ${request.id}`);
      await this.send(message);
    } catch (error) {
      this.#sendError(request.id, error);
    } finally {
      this.#open -= 1;
    }
  }

  /** Undefined for one that has shown another token: it knows how. */
  #closeUntold(name: string | undefined): void {
    this.#options.socket.close(POLICY_VIOLATION, CLOSE_REASON);
    if (name !== undefined) this.#options.onUntold(name);
  }

  #sendError(id: string | undefined, error: unknown): void {
    const { logger, number } = this.#options;
    if (!(error instanceof EditorError)) logger.error('A request failed', { error });
    const hint = 'The output channel of the extension says more.';
    const known =
      error instanceof EditorError ? error : new EditorError('INTERNAL_ERROR', messageOf(error), hint);
    logger.info(`#${number} ← error ${id ?? ''} ${known.code}: ${known.message}`);
    void this.send({
      type: 'error',
      ...(id !== undefined && { id }),
      code: known.code,
      error: known.message,
      hint: known.hint,
      ...known.range,
    });
  }
}

/** A program may read `error` alone: all is in it. */
function noToken(file: string): EditorError {
  return new EditorError(
    'NO_TOKEN',
    `This window lets no program in that does not show its token, which is in ${file}. Or its person sets ${SETTING} to true.`,
    'Send the token of the file as "token" of hello, or as "Authorization: Bearer <token>". It is new whenever the window begins to listen.',
  );
}

/** A request in the log: never a token, and never what is typed, which may be a password. */
function loggedRequest(request: EditorRequest): string {
  const parts: string[] = [request.type, request.id];
  if ('terminalId' in request && request.terminalId !== undefined) parts.push(request.terminalId);
  if (request.type === 'hello') parts.push(request.client);
  if (request.type === 'execute') parts.push(request.command);
  if (request.type === 'input') parts.push(`(${request.text.length} characters)`);
  return oneLine(parts.join(' '), MAX_LOGGED_CHARS);
}
