import { WebSocket, type RawData } from 'ws';
import { z } from 'zod';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { problemsOf } from '../base/files/json-file.js';
import { createSecret } from '../base/ids.js';
import { socketJson } from '../base/input.js';
import type { Disposable } from '../base/lifecycle.js';
import type { EditorWindow } from './discovery.js';
import { editorFault, otherVersion, terminalClosed, unreachable } from './editor-fault.js';
import {
  editorRequestSchema,
  editorMessageSchema,
  MAX_EDITOR_MESSAGE_BYTES,
  type EditorMessage,
  type EditorMessageOf,
  type EditorRequest,
} from './protocol.js';

/** An answer, and of a command its beginning and its end; more come only from an extension that does not keep to the messages. */
const MAX_WAITING = 16;
const ID_DIGITS = 12;
/** Clients cut calls at 60 s: every call of this server is answered before. */
const CALL_LIMIT_MS = 45_000;
const withId = z.object({ id: z.string() });

/** Who calls a tool. */
export interface EditorCaller {
  /** How the user sees who made a terminal. */
  readonly client: string;
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal;
}

/** The call of a tool, with the time that it has. */
export interface EditorCall extends EditorCaller {
  readonly clock: Clock;
  /** At most `limitMs`, and less when the call is nearly over. */
  leftMs(limitMs?: number): number;
}

/** Its time begins now. */
export function editorCall(caller: EditorCaller, clock: Clock): EditorCall {
  const endMs = clock.monotonicMs() + CALL_LIMIT_MS;
  const leftMs = (limitMs = CALL_LIMIT_MS): number =>
    Math.max(0, Math.min(limitMs, endMs - clock.monotonicMs()));
  return { ...caller, clock, leftMs };
}

/** An id of a request, or of a terminal: 48 bits do not collide, and a model has little to copy. */
export function newId(prefix: string): string {
  return `${prefix}_${createSecret().slice(0, ID_DIGITS)}`;
}

/** A request; without an id it gets one. */
type Asked = EditorRequest extends infer One
  ? One extends EditorRequest
    ? Omit<One, 'id'> & { readonly id?: string }
    : never
  : never;

/** A connection to one window of VS Code, for one call. What it throws names neither its port nor its token. */
export class EditorConnection implements Disposable {
  readonly window: EditorWindow;
  readonly call: EditorCall;
  readonly #socket: WebSocket;
  readonly #opened: Promise<unknown>;
  readonly #open = new Map<string, Answers>();
  readonly #onAbort = () => this.dispose();
  #fault: BridgeError | undefined;

  private constructor(window: EditorWindow, call: EditorCall) {
    this.window = window;
    this.call = call;
    call.signal.addEventListener('abort', this.#onAbort);
    this.#socket = new WebSocket(`ws://127.0.0.1:${window.port}`, {
      headers: { authorization: `Bearer ${window.token}` },
      maxPayload: MAX_EDITOR_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    const end = (what: string): void => this.#end(unreachable(window, what));
    this.#opened = new Promise((resolve) => {
      for (const event of ['open', 'close']) this.#socket.once(event, resolve);
    });
    this.#socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    this.#socket.on('unexpected-response', (_request, { statusCode }) =>
      end(statusCode === 503 ? 'has too many programs connected' : 'refused the bridge'),
    );
    this.#socket.on('error', (error) => end(troubleOf(error)));
    this.#socket.on('close', () => end('closed the connection before it answered'));
  }

  /** `limitMs`: for the connection, and for the extension's welcome. Throws EDITOR_UNREACHABLE and EDITOR_VERSION. */
  static async open(
    window: EditorWindow,
    call: EditorCall,
    limitMs: number,
  ): Promise<{ readonly connection: EditorConnection; readonly welcome: EditorMessageOf<'welcome'> }> {
    const connection = new EditorConnection(window, call);
    if (call.signal.aborted) connection.dispose();
    const late = call.clock.after(limitMs, () => connection.#end(noAnswer(window, limitMs)));
    try {
      await connection.#opened;
      late.dispose();
      const hello = { type: 'hello', client: call.client } as const;
      return { connection, welcome: await connection.ask(hello, 'welcome', limitMs) };
    } catch (error) {
      connection.dispose();
      throw error;
    } finally {
      late.dispose();
    }
  }

  /** Its answers come until the connection is disposed. Throws INVALID_ARGUMENTS for what the extension would refuse. */
  send(asked: Asked): Answers {
    const { id = newId(asked.type) } = asked;
    const request = editorRequestSchema.safeParse({ ...asked, id });
    if (!request.success) throw refused(problemsOf(request.error));
    const text = JSON.stringify(request.data);
    if (Buffer.byteLength(text) > MAX_EDITOR_MESSAGE_BYTES) throw refused('together they are over 1 MB');
    const terminalId = 'terminalId' in asked ? asked.terminalId : undefined;
    const answers = new Answers(this.window, this.call.clock, terminalId);
    if (this.#fault !== undefined) answers.fail(this.#fault);
    else {
      this.#open.set(id, answers);
      // A failure is followed by the close of the connection.
      this.#socket.send(text, () => undefined);
    }
    return answers;
  }

  /** The first answer. Throws as `Answers.of`. */
  ask<Type extends EditorMessage['type']>(
    asked: Asked,
    type: Type,
    limitMs: number,
  ): Promise<EditorMessageOf<Type>> {
    return this.send(asked).of(type, limitMs);
  }

  dispose(): void {
    this.#end(unreachable(this.window, 'is no longer connected'));
  }

  #received(data: RawData, isBinary: boolean): void {
    const json = isBinary ? undefined : socketJson(data);
    if (json === undefined) return this.#end(otherVersion(this.window));
    const message = editorMessageSchema.safeParse(json).data;
    if (message?.type === 'terminal_closed') {
      for (const answers of this.#open.values())
        if (answers.terminalId === message.terminalId) answers.push(message);
      return;
    }
    const id = withId.safeParse(json).data?.id;
    // What a newer extension tells every program is nothing that was asked for.
    const answers = id === undefined ? undefined : this.#open.get(id);
    if (message === undefined) answers?.fail(otherVersion(this.window));
    else answers?.push(message);
  }

  /** The first fault is the one that is told. */
  #end(fault: BridgeError): void {
    this.#fault ??= fault;
    this.call.signal.removeEventListener('abort', this.#onAbort);
    for (const answers of this.#open.values()) answers.fail(this.#fault);
    this.#open.clear();
    this.#socket.terminate();
  }
}

/** The messages that come for one request, in their order. */
export class Answers {
  readonly #window: EditorWindow;
  readonly #clock: Clock;
  /** Of the request: its end is among the answers. */
  readonly terminalId: string | undefined;
  readonly #waiting: EditorMessage[] = [];
  #wake: () => void = () => undefined;
  #fault: BridgeError | undefined;

  constructor(window: EditorWindow, clock: Clock, terminalId: string | undefined) {
    this.#window = window;
    this.#clock = clock;
    this.terminalId = terminalId;
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

  /** The next one; undefined when none came within the limit. Throws what the connection failed with. */
  async next(limitMs: number): Promise<EditorMessage | undefined> {
    if (this.#waiting.length === 0 && this.#fault === undefined) {
      const arrived = new AbortController();
      this.#wake = () => arrived.abort();
      await sleep(this.#clock, limitMs, arrived.signal);
    }
    const message = this.#waiting.shift();
    if (message === undefined && this.#fault !== undefined) throw this.#fault;
    return message;
  }

  /** The next one. Throws the extension's error, EDITOR_UNREACHABLE without an answer, EDITOR_VERSION for one of another type. */
  async of<Type extends EditorMessage['type']>(type: Type, limitMs: number): Promise<EditorMessageOf<Type>> {
    return this.expect(await this.next(limitMs), type, limitMs);
  }

  /** `message` if it is of that type; undefined is none within the limit. Throws as `of`. */
  expect<Type extends EditorMessage['type']>(
    message: EditorMessage | undefined,
    type: Type,
    limitMs: number,
  ): EditorMessageOf<Type> {
    if (message === undefined) throw noAnswer(this.#window, limitMs);
    if (isOf(message, type)) return message;
    if (message.type === 'error') throw editorFault(message);
    if (message.type === 'terminal_closed') throw terminalClosed(message);
    throw otherVersion(this.#window);
  }
}

function isOf<Type extends EditorMessage['type']>(
  message: EditorMessage,
  type: Type,
): message is EditorMessageOf<Type> {
  return message.type === type;
}

function noAnswer(window: EditorWindow, limitMs: number): BridgeError {
  return unreachable(window, `did not answer within ${Math.ceil(limitMs / 1_000)} s`);
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
  const message = `VS Code takes no such arguments: ${why}.`;
  return new BridgeError('INVALID_ARGUMENTS', message, 'Correct them and call again.');
}
