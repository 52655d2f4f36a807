import { effect } from '@preact/signals';
import type { ActionError, ClientAction, ServerMessage } from '../../src/board/protocol.js';
import type { Host, ToolAnswer } from '../app/host.js';
import { isFields, textIn, type Fields } from '../app/json-rpc.js';
import { isServerMessage, type ConnectionState, type Transport } from './transport.js';

/** How long the board waits for news before it answers that there is none. */
const WAIT_MS = 20_000;
/** Between two reads: what happens meanwhile comes with the next one. */
const PAUSE_MS = 250;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

export interface AppTransportOptions {
  /** The tasks whose questions are shown; all when left out. */
  readonly tasks?: readonly string[];
  /** How long it waits before the first read; default: 0. */
  readonly firstReadMs?: number;
  /** A person does this; what it gives is called when it was done. */
  readonly doing: (action: ClientAction) => () => void;
}

/** Reaches the board by the tools of a chat: it reads again and again while somebody looks, and never otherwise. */
export class AppTransport implements Transport {
  readonly #host: Host;
  readonly #options: AppTransportOptions;
  /** The channels that are followed, and the last number of each. */
  readonly #channels = new Map<string, number | undefined>();
  #message: (message: ServerMessage) => void = () => undefined;
  #state: (state: ConnectionState) => void = () => undefined;
  #boardId: string | undefined;
  #reading: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isStopped = false;

  constructor(host: Host, options: AppTransportOptions) {
    this.#host = host;
    this.#options = options;
  }

  onMessage(listener: (message: ServerMessage) => void): void {
    this.#message = listener;
  }

  onFrame(): void {
    // There are none: an app has no terminal.
  }

  onState(listener: (state: ConnectionState) => void): void {
    this.#state = listener;
  }

  start(): void {
    this.#state({ how: 'connecting' });
    effect(() => {
      const afterMs = this.#boardId === undefined ? this.#options.firstReadMs : undefined;
      if (this.#host.isActive.value) this.#readSoon(afterMs ?? 0);
      else this.#pause();
    });
  }

  /** Reads again after the client has refused it. */
  retry(): void {
    this.#isStopped = false;
    this.#state({ how: 'connecting' });
    this.#readSoon(0);
  }

  /** Reads no more. */
  stop(): void {
    this.#isStopped = true;
    this.#pause();
  }

  subscribe(channel: string, since: number | undefined): void {
    this.#channels.set(channel, since);
    // The read that waits does not know of this channel.
    this.#reading?.abort();
    this.#readSoon(0);
  }

  unsubscribe(channel: string): void {
    this.#channels.delete(channel);
  }

  dispatch(id: number, action: ClientAction): void {
    const done = this.#options.doing(action);
    this.#host.callTool('board_act', { action }).then(
      (answer) => this.#acted(id, done, answer),
      (error: unknown) => this.#refused(id, wordsOf(error)),
    );
  }

  acknowledge(): void {
    // As `onFrame`.
  }

  #acted(id: number, done: () => void, { isError, fields, text }: ToolAnswer): void {
    if (isError) return this.#refused(id, text);
    const { ok, error, task_id } = fields;
    if (ok !== true) return this.#message({ type: 'result', id, ok: false, error: errorIn(error) });
    done();
    this.#message({
      type: 'result',
      id,
      ok: true,
      ...(typeof task_id === 'string' && { task_id }),
    });
  }

  #refused(id: number, message: string): void {
    this.#message({ type: 'result', id, ok: false, error: { code: 'TASK_UNREACHABLE', message, hint: '' } });
  }

  #pause(): void {
    clearTimeout(this.#timer);
    this.#reading?.abort();
    this.#reading = undefined;
  }

  #readSoon(afterMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped || !this.#host.isActive.value) return;
    this.#timer = setTimeout(() => void this.#read(), afterMs);
  }

  async #read(): Promise<void> {
    const reading = new AbortController();
    this.#reading = reading;
    try {
      const answer = await this.#host.callTool('board_read', this.#query(), reading.signal);
      if (this.#reading !== reading || reading.signal.aborted) return;
      if (answer.isError) this.#lost(answer.text);
      else this.#took(answer.fields);
    } catch (error) {
      if (this.#reading !== reading || reading.signal.aborted) return;
      // Asked again and again, a person would have to refuse it again and again.
      this.#isStopped = true;
      this.#state({ how: 'refused', why: wordsOf(error) });
    }
  }

  #query(): Fields {
    const channels = [...this.#channels].map(([channel, since]) => ({
      channel,
      ...(since !== undefined && { since }),
    }));
    const { tasks } = this.#options;
    return {
      channels,
      wait_ms: channels.length === 0 ? 0 : WAIT_MS,
      ...(this.#boardId !== undefined && { board_id: this.#boardId }),
      ...(tasks !== undefined && { tasks }),
    };
  }

  #took({ board_id, version, home, messages }: Fields): void {
    this.#retryMs = FIRST_RETRY_MS;
    this.#reading = undefined;
    this.#state({ how: 'open' });
    const isFirst = this.#boardId === undefined;
    this.#boardId = String(board_id);
    if (isFirst) {
      const words = { board_id: this.#boardId, version: String(version), home: String(home), client: 'chat' };
      this.#message({ type: 'welcome', v: 1, caps: { terminal: false }, ...words });
    }
    for (const message of Array.isArray(messages) ? messages : [])
      if (isServerMessage(message)) this.#pass(message);
    this.#readSoon(isFirst ? 0 : PAUSE_MS);
  }

  #pass(message: ServerMessage): void {
    const channel = 'channel' in message ? message.channel : undefined;
    // It was left while the answer was on its way.
    if (channel !== undefined && !this.#channels.has(channel)) return;
    if (message.type === 'snapshot' || message.type === 'action')
      this.#channels.set(message.channel, message.seq);
    if (message.type === 'gap') this.#channels.set(message.channel, undefined);
    // To ask again would be to be refused again.
    if (message.type === 'refused' && channel !== undefined) this.#channels.delete(channel);
    this.#message(message);
  }

  #lost(why: string): void {
    this.#reading = undefined;
    this.#state({ how: 'lost', retryAtMs: Date.now() + this.#retryMs, why });
    this.#readSoon(this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
  }
}

function errorIn(error: unknown): ActionError {
  const fields = isFields(error) ? error : {};
  return { code: textIn(fields, 'code'), message: textIn(fields, 'message'), hint: textIn(fields, 'hint') };
}

function wordsOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'It gave no reason.';
}
