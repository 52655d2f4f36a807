import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { socketJson } from '../base/input.js';
import type { MachineTasks } from '../machines/machine-tasks.js';
import type { TaskRecord } from '../tasks/task.js';
import type { Access } from './access.js';
import { actionErrorOf, type TaskClientAction } from './act.js';
import type { Channels } from './channel.js';
import {
  BOARD_PROTOCOL,
  clientMessageSchema,
  type ActionAnswer,
  type ClientAction,
  type ClientMessage,
  type ServerMessage,
} from './protocol.js';
import { TerminalStream, type TerminalClientAction, type TerminalWriters } from './terminal-stream.js';

/** A page says its token at once. */
const HELLO_LIMIT_MS = 10_000;
/** What waits for a page that does not read; beyond it the connection ends, and the page gets all values over its next one. */
const MAX_QUEUE_BYTES = 32 * 1024 * 1024;
/** Close code of RFC 6455 (policy violation), which a page does not answer by connecting again. */
const REFUSED = 1008;

/** What the pages of a board share. */
export interface SocketServices {
  readonly channels: Channels;
  readonly access: Access;
  readonly writers: TerminalWriters;
  readonly record: (taskId: string) => Promise<TaskRecord>;
  readonly far?: MachineTasks | undefined;
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
  readonly #helloLimit: Disposable;
  /** By channel, also while it is being opened. */
  readonly #following = new Map<string, Promise<Disposable | undefined>>();
  readonly #terminals = new Map<string, TerminalStream>();
  #client: string | undefined;
  #streams = 0;

  constructor(socket: WebSocket, number: number, services: SocketServices) {
    this.#socket = socket;
    this.#number = number;
    this.#services = services;
    const { clock, logger } = services;
    socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    // Its close follows.
    socket.on('error', (error) =>
      logger.debug('The connection of a page failed', { error: messageOf(error) }),
    );
    socket.on('close', () => this.dispose());
    this.#helloLimit = clock.after(HELLO_LIMIT_MS, () => {
      if (this.#client === undefined) socket.close(REFUSED, 'no hello');
    });
  }

  dispose(): void {
    this.#helloLimit.dispose();
    for (const channel of [...this.#following.keys()]) this.#leave(channel);
    for (const terminal of this.#terminals.values()) terminal.dispose();
    this.#terminals.clear();
    this.#socket.terminate();
  }

  #received(data: RawData, isBinary: boolean): void {
    const raw = isBinary ? undefined : socketJson(data);
    const message = clientMessageSchema.safeParse(raw);
    if (message.success) {
      if (this.#client === undefined) return this.#hello(message.data);
      return this.#handle(message.data, this.#client);
    }
    const [issue] = message.error.issues;
    const why = isBinary ? 'it is binary' : `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim();
    const error = {
      code: 'INVALID_ARGUMENTS',
      message: `A message was not understood: ${why}.`,
      hint: 'The page is of another version: load it again.',
    };
    const id = this.#client === undefined ? undefined : dispatchSchema.safeParse(raw).data?.id;
    this.#send(id === undefined ? { type: 'refused', error } : { type: 'result', id, ok: false, error });
    if (this.#client === undefined) this.#socket.close(REFUSED, 'no hello');
  }

  #hello(message: ClientMessage): void {
    const { access, version, homeDir: home } = this.#services;
    if (message.type !== 'hello' || !access.isToken(message.token))
      return this.#socket.close(REFUSED, 'no token');
    this.#client = `${message.client}-${this.#number}`;
    this.#send({ type: 'welcome', v: BOARD_PROTOCOL, client: this.#client, version, home });
  }

  #handle(message: ClientMessage, client: string): void {
    switch (message.type) {
      case 'hello':
        return;
      case 'subscribe':
        this.#leave(message.channel);
        if (message.channel.startsWith('term:/')) this.#openTerminal(message.channel, client);
        else this.#following.set(message.channel, this.#follow(message.channel));
        return;
      case 'unsubscribe':
        return this.#leave(message.channel);
      case 'term.ack':
        return this.#terminals.get(message.channel)?.acknowledge(message.bytes);
      case 'dispatch':
        void this.#dispatch(message.id, message.action, client);
    }
  }

  /** Undefined for a channel that cannot be opened, which is reported to the page. */
  async #follow(channel: string): Promise<Disposable | undefined> {
    try {
      return await this.#services.channels.follow(channel, (message) => this.#send(message));
    } catch (error) {
      this.#send({ type: 'refused', channel, error: actionErrorOf(error, this.#services.logger) });
      return undefined;
    }
  }

  #openTerminal(channel: string, client: string): void {
    const terminal: TerminalStream = new TerminalStream({
      ...this.#services,
      taskId: channel.slice('term:/'.length),
      nextStream: () => ++this.#streams,
      client,
      sendState: (state) => {
        // One that the page has left may still change.
        if (this.#terminals.get(channel) !== terminal) return;
        this.#send({ type: 'values', channel, whole: true, set: { terminal: state }, del: [] });
      },
      sendFrame: (frame) => this.#socket.send(frame),
    });
    this.#terminals.set(channel, terminal);
    void terminal.start();
  }

  #leave(channel: string): void {
    void this.#following.get(channel)?.then((following) => following?.dispose());
    this.#following.delete(channel);
    const terminal = this.#terminals.get(channel);
    this.#terminals.delete(channel);
    void terminal?.leave();
  }

  async #dispatch(id: number, action: ClientAction, client: string): Promise<void> {
    try {
      const answer = isTerminalAction(action)
        ? await this.#actOnTerminal(action)
        : await this.#services.act(action, `board/${client}`);
      this.#send({ type: 'result', id, ok: true, ...answer });
    } catch (error) {
      this.#send({ type: 'result', id, ok: false, error: actionErrorOf(error, this.#services.logger) });
    }
  }

  async #actOnTerminal(action: TerminalClientAction): Promise<ActionAnswer> {
    const terminal = this.#terminals.get(`term:/${action.task_id}`);
    if (terminal === undefined)
      throw new BridgeError('INVALID_ARGUMENTS', 'The page does not show this terminal.', 'Open it first.');
    await terminal.act(action);
    return {};
  }

  #send(message: ServerMessage): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_QUEUE_BYTES) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(message));
  }
}

function isTerminalAction(action: ClientAction): action is TerminalClientAction {
  return action.type.startsWith('term.');
}
