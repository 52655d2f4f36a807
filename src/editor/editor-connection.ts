import { WebSocket, type RawData } from 'ws';
import { z } from 'zod';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { problemsOf } from '../base/files/json-file.js';
import type { Disposable } from '../base/lifecycle.js';
import { socketJson } from '../base/input.js';
import type { EditorWindow } from './discovery.js';
import { editorFault, otherVersion, terminalClosed, unreachable } from './editor-fault.js';
import {
  editorMessageSchema,
  editorRequestSchema,
  MAX_EDITOR_MESSAGE_BYTES,
  type EditorMessage,
  type EditorMessageOf,
  type EditorRequest,
} from './protocol.js';

/** An answer, and of a command its beginning and its end; more come only from an extension that does not keep to the messages. */
const MAX_WAITING = 16;

const ID_BYTES = 6;
const withId = z.object({ id: z.string() });

export interface ConnectOptions {
  /** How the user sees who made a terminal. */
  readonly client: string;
  readonly clock: Clock;
  /** For the connection and the extension's welcome. */
  readonly limitMs: number;
  /** Closes the connection when it aborts. */
  readonly signal: AbortSignal;
}

/** An id of a request, or of a terminal: 48 bits do not collide, and a model has little to copy. */
export function newEditorRequestId(prefix: string): string {
  return `${prefix}_${Buffer.from(crypto.getRandomValues(new Uint8Array(ID_BYTES))).toString('hex')}`;
}

/** A connection to one window of VS Code. What it throws names neither its port nor its token. */
export class EditorConnection implements Disposable {
  readonly window: EditorWindow;
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #open = new Map<string, { readonly answers: Answers; readonly terminalId: string | undefined }>();
  readonly #onAbort = () => this.dispose();
  #fault: BridgeError | undefined;

  private constructor(window: EditorWindow, { clock, signal }: ConnectOptions) {
    this.window = window;
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
    this.#socket = new WebSocket(`ws://127.0.0.1:${window.port}`, {
      headers: { authorization: `Bearer ${window.token}` },
      maxPayload: MAX_EDITOR_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    this.#socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    this.#socket.on('unexpected-response', (_request, { statusCode }) => {
      this.#end(
        unreachable(window, statusCode === 503 ? 'has too many programs connected' : 'refused the bridge'),
      );
    });
    this.#socket.on('error', (error) => this.#end(unreachable(window, troubleOf(error))));
    this.#socket.on('close', () =>
      this.#end(unreachable(window, 'closed the connection before it answered')),
    );
  }

  /** Throws EDITOR_UNREACHABLE and EDITOR_VERSION. */
  static async open(
    window: EditorWindow,
    options: ConnectOptions,
  ): Promise<{ readonly connection: EditorConnection; readonly welcome: EditorMessageOf<'welcome'> }> {
    const connection = new EditorConnection(window, options);
    if (options.signal.aborted) connection.dispose();
    try {
      await connection.#opened(options.limitMs);
      const hello = { type: 'hello', id: newEditorRequestId('hello'), client: options.client } as const;
      return { connection, welcome: await connection.ask(hello, 'welcome', options.limitMs) };
    } catch (error) {
      connection.dispose();
      throw error;
    }
  }

  /** Its answers come until the connection is disposed. Throws INVALID_ARGUMENTS for what the extension would refuse. */
  send(request: EditorRequest): Answers {
    const valid = editorRequestSchema.safeParse(request);
    if (!valid.success) throw refused(problemsOf(valid.error));
    const text = JSON.stringify(request);
    if (Buffer.byteLength(text) > MAX_EDITOR_MESSAGE_BYTES) throw refused('together they are over 1 MB');
    const answers = new Answers(this.#clock);
    const terminalId = 'terminalId' in request ? request.terminalId : undefined;
    if (this.#fault !== undefined) answers.fail(this.#fault);
    else {
      this.#open.set(request.id, { answers, terminalId });
      // A failure is followed by the close of the connection.
      this.#socket.send(text, () => undefined);
    }
    return answers;
  }

  /** The first answer. Throws the extension's error, EDITOR_UNREACHABLE without an answer, EDITOR_VERSION for another one. */
  async ask<Type extends EditorMessage['type']>(
    request: EditorRequest,
    type: Type,
    limitMs: number,
  ): Promise<EditorMessageOf<Type>> {
    const answers = this.send(request);
    try {
      return await this.answer(answers, type, limitMs);
    } finally {
      this.#open.delete(request.id);
    }
  }

  /** The next answer, as `ask`. */
  async answer<Type extends EditorMessage['type']>(
    answers: Answers,
    type: Type,
    limitMs: number,
  ): Promise<EditorMessageOf<Type>> {
    return this.expect(await answers.next(limitMs), type, limitMs);
  }

  /** `message` if it is of that type; undefined is none within the limit. Throws as `ask`. */
  expect<Type extends EditorMessage['type']>(
    message: EditorMessage | undefined,
    type: Type,
    limitMs: number,
  ): EditorMessageOf<Type> {
    if (message === undefined)
      throw unreachable(this.window, `did not answer within ${Math.ceil(limitMs / 1_000)} s`);
    if (isOf(message, type)) return message;
    if (message.type === 'error') throw editorFault(message);
    if (message.type === 'terminal_closed') throw terminalClosed(message);
    throw otherVersion(this.window);
  }

  dispose(): void {
    this.#end(unreachable(this.window, 'is no longer connected'));
  }

  #opened(limitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#fault !== undefined) return reject(this.#fault);
      const limit = this.#clock.after(limitMs, () => {
        this.#end(unreachable(this.window, `did not answer within ${Math.ceil(limitMs / 1_000)} s`));
      });
      this.#socket.once('open', () => {
        limit.dispose();
        resolve();
      });
      this.#socket.once('close', () => {
        limit.dispose();
        reject(this.#fault ?? unreachable(this.window, 'closed the connection'));
      });
    });
  }

  #received(data: RawData, isBinary: boolean): void {
    const json = isBinary ? undefined : socketJson(data);
    if (json === undefined) return this.#end(otherVersion(this.window));
    const message = editorMessageSchema.safeParse(json).data;
    if (message?.type === 'terminal_closed') return this.#closed(message);
    const id = withId.safeParse(json).data?.id;
    // What a newer extension tells every program is nothing that was asked for.
    const asked = id === undefined ? undefined : this.#open.get(id);
    if (message === undefined) asked?.answers.fail(otherVersion(this.window));
    else asked?.answers.push(message);
  }

  #closed(message: EditorMessageOf<'terminal_closed'>): void {
    for (const { answers, terminalId } of this.#open.values())
      if (terminalId === message.terminalId) answers.push(message);
  }

  /** The first fault is the one that is told. */
  #end(fault: BridgeError): void {
    this.#fault ??= fault;
    this.#signal.removeEventListener('abort', this.#onAbort);
    for (const { answers } of this.#open.values()) answers.fail(this.#fault);
    this.#open.clear();
    this.#socket.terminate();
  }
}

function isOf<Type extends EditorMessage['type']>(
  message: EditorMessage,
  type: Type,
): message is EditorMessageOf<Type> {
  return message.type === type;
}

/** Its message would name the port. */
function troubleOf(error: Error): string {
  const code = systemCodeOf(error);
  if (code === 'ECONNREFUSED') return 'does not accept connections';
  return code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    ? 'sent a message that is too long'
    : 'broke the connection';
}

function refused(why: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `VS Code takes no such arguments: ${why}.`,
    'Correct them and call again.',
  );
}

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
