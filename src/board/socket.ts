import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { socketJson } from '../base/input.js';
import type { TaskRecord } from '../tasks/task.js';
import type { Access } from './access.js';
import { actionErrorOf, type TaskClientAction } from './act.js';
import type { Channels } from './channel.js';
import {
  BOARD_PROTOCOL,
  clientMessageSchema,
  type ActionAnswer,
  type ActionError,
  type ClientAction,
  type ClientMessage,
  type ServerMessage,
} from './protocol.js';
import { TerminalStream, type TerminalClientAction, type TerminalWriters } from './terminal-stream.js';

/** A page says its token at once. */
const HELLO_LIMIT_MS = 10_000;
/** What waits for a page that does not read; beyond it the connection ends, and the page gets all values over its next one. */
const MAX_QUEUE_BYTES = 8 * 1024 * 1024;
const QUEUE_LOOK_MS = 200;
/** What a page asks for at once; more is refused, since each answer may be large. */
const MAX_ACTING = 32;
const PING_MS = 20_000;
/** Close codes of RFC 6455 (policy violation, and too much to send), which a page does not answer by connecting again. */
const REFUSED = 1008;

/** What the pages of a board share. */
export interface SocketServices {
  readonly channels: Channels;
  readonly access: Access;
  readonly writers: TerminalWriters;
  readonly record: (taskId: string) => Promise<TaskRecord>;
  readonly act: (action: TaskClientAction, by: string) => Promise<ActionAnswer>;
  readonly version: string;
  readonly homeDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const dispatchSchema = z.object({ type: z.literal('dispatch'), id: z.int().positive() });

/** One page: its subscriptions, its terminals, and what it asks for. */
export class BoardSocket implements Disposable {
  readonly #services: SocketServices;
  readonly #socket: WebSocket;
  /** Tells pages of one kind apart. */
  readonly #number: number;
  readonly #owned = new DisposableStore();
  readonly #following = new Map<string, Disposable>();
  /** The newest subscription to each channel, also while it is being opened. */
  readonly #asked = new Map<string, object>();
  readonly #terminals = new Map<string, TerminalStream>();
  #client: string | undefined;
  #streams = 0;
  #isAlive = true;
  #acting = 0;
  #ping: Disposable | undefined;
  #paused: Disposable | undefined;

  constructor(socket: WebSocket, number: number, services: SocketServices) {
    this.#socket = socket;
    this.#number = number;
    this.#services = services;
    const { clock, logger } = services;
    socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    socket.on('pong', () => (this.#isAlive = true));
    // Its close follows.
    socket.on('error', (error) =>
      logger.debug('The connection of a page failed', { error: messageOf(error) }),
    );
    socket.on('close', () => this.dispose());
    this.#owned.add(
      clock.after(HELLO_LIMIT_MS, () => {
        if (this.#client === undefined) socket.close(REFUSED, 'no hello');
      }),
    );
    this.#pingLater();
  }

  dispose(): void {
    this.#owned.dispose();
    this.#ping?.dispose();
    this.#paused?.dispose();
    for (const following of this.#following.values()) following.dispose();
    this.#following.clear();
    for (const terminal of this.#terminals.values()) terminal.dispose();
    this.#terminals.clear();
    this.#socket.terminate();
  }

  #pingLater(): void {
    this.#ping = this.#services.clock.after(PING_MS, () => {
      if (!this.#isAlive) return this.#socket.terminate();
      this.#isAlive = false;
      this.#socket.ping();
      this.#pingLater();
    });
  }

  #received(data: RawData, isBinary: boolean): void {
    const raw = isBinary ? undefined : socketJson(data);
    const message = clientMessageSchema.safeParse(raw);
    if (!message.success) {
      const [issue] = message.error.issues;
      const why = isBinary ? 'it is binary' : `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim();
      const error = invalid(`A message was not understood: ${why}.`);
      const id = this.#client === undefined ? undefined : dispatchSchema.safeParse(raw).data?.id;
      this.#send(id === undefined ? { type: 'refused', error } : { type: 'result', id, ok: false, error });
      if (this.#client === undefined) this.#socket.close(REFUSED, 'no hello');
      return;
    }
    if (this.#client === undefined) this.#hello(message.data);
    else this.#handle(message.data, this.#client);
    // Who does not read the answers asks for no more of them.
    if (this.#socket.bufferedAmount > MAX_QUEUE_BYTES) this.#pause();
  }

  #pause(): void {
    this.#socket.pause();
    this.#paused ??= this.#services.clock.after(QUEUE_LOOK_MS, () => {
      this.#paused = undefined;
      if (this.#socket.bufferedAmount > MAX_QUEUE_BYTES) this.#pause();
      else this.#socket.resume();
    });
  }

  #hello(message: ClientMessage): void {
    const { access, version, homeDir } = this.#services;
    if (message.type !== 'hello' || !access.isToken(message.token)) {
      this.#socket.close(REFUSED, 'no token');
      return;
    }
    this.#client = `${message.client}-${this.#number}`;
    this.#send({
      type: 'welcome',
      v: BOARD_PROTOCOL,
      client: this.#client,
      version,
      home: homeDir,
    });
  }

  #handle(message: ClientMessage, client: string): void {
    switch (message.type) {
      case 'hello':
        return;
      case 'subscribe':
        void this.#subscribe(message.channel, client);
        return;
      case 'unsubscribe':
        this.#unsubscribe(message.channel);
        return;
      case 'term.ack':
        this.#terminals.get(message.channel)?.acknowledge(message.bytes);
        return;
      case 'dispatch':
        void this.#dispatch(message.id, message.action, client);
    }
  }

  async #subscribe(channel: string, client: string): Promise<void> {
    this.#unsubscribe(channel);
    const asked = {};
    this.#asked.set(channel, asked);
    if (channel.startsWith('term:/')) {
      this.#openTerminal(channel, client);
      return;
    }
    try {
      const send = (message: ServerMessage): void => this.#send(message);
      const following = await this.#services.channels.follow(channel, send);
      // Meanwhile the page may have gone, or asked for something else.
      if (this.#owned.isDisposed || this.#asked.get(channel) !== asked) following.dispose();
      else this.#following.set(channel, following);
    } catch (error) {
      this.#send({ type: 'refused', channel, error: this.#errorOf(error) });
    }
  }

  #openTerminal(channel: string, client: string): void {
    const { writers, record, clock, logger } = this.#services;
    const terminal = new TerminalStream({
      taskId: channel.slice('term:/'.length),
      stream: ++this.#streams,
      client,
      writers,
      record,
      clock,
      logger,
      sendFrame: (frame) => this.#socket.send(frame),
    });
    this.#terminals.set(channel, terminal);
    this.#following.set(
      channel,
      terminal.channel.follow((message) => this.#send(message)),
    );
    void terminal.start();
  }

  #unsubscribe(channel: string): void {
    this.#asked.delete(channel);
    this.#following.get(channel)?.dispose();
    this.#following.delete(channel);
    void this.#terminals.get(channel)?.leave();
    this.#terminals.delete(channel);
  }

  async #dispatch(id: number, action: ClientAction, client: string): Promise<void> {
    if (this.#acting >= MAX_ACTING) {
      const error = {
        code: 'STATE_UNUSABLE',
        message: 'The page asks for too much at once.',
        hint: 'Try again.',
      };
      this.#send({ type: 'result', id, ok: false, error });
      return;
    }
    this.#acting++;
    try {
      const answer = isTerminalAction(action)
        ? await this.#actOnTerminal(action)
        : await this.#services.act(action, `board/${client}`);
      this.#send({ type: 'result', id, ok: true, ...answer });
    } catch (error) {
      this.#send({ type: 'result', id, ok: false, error: this.#errorOf(error) });
    } finally {
      this.#acting--;
    }
  }

  async #actOnTerminal(action: TerminalClientAction): Promise<ActionAnswer> {
    const terminal = this.#terminals.get(`term:/${action.task_id}`);
    if (terminal === undefined)
      throw new BridgeError('INVALID_ARGUMENTS', 'The page does not show this terminal.', 'Open it first.');
    await terminal.act(action);
    return {};
  }

  #errorOf(error: unknown): ActionError {
    return actionErrorOf(error, this.#services.logger);
  }

  #send(message: ServerMessage): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_QUEUE_BYTES && message.type === 'values') this.#socket.terminate();
    else this.#socket.send(JSON.stringify(message));
  }
}

function isTerminalAction(action: ClientAction): action is TerminalClientAction {
  return action.type.startsWith('term.');
}

function invalid(message: string): ActionError {
  return { code: 'INVALID_ARGUMENTS', message, hint: 'The page is of another version: load it again.' };
}
