import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import { jsonOf } from '../base/input.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { TaskRecord } from '../tasks/task.js';
import { actionErrorOf, type TaskClientAction } from './act.js';
import type { Channels } from './channel.js';
import type { FarTerminalOptions } from './far/far-terminal.js';
import type { PagePort } from './page-port.js';
import {
  BOARD_PROTOCOL,
  clientMessageSchema,
  type ClientAction,
  type ClientMessage,
  type Outcome,
  type ServerMessage,
  type TerminalState,
} from './protocol.js';
import {
  TerminalStream,
  type PageTerminal,
  type TerminalClientAction,
  type TerminalWriters,
} from './terminal-stream.js';

/** A page says its token at once. */
const HELLO_LIMIT_MS = 10_000;
/** What waits for a page that does not read; beyond it the connection ends, and the page gets all values over its next one. */
const MAX_QUEUE_BYTES = 32 * 1024 * 1024;

/** What the pages of a board share. */
export interface SocketServices {
  readonly channels: Channels;
  readonly isToken: (token: string) => boolean;
  readonly writers: TerminalWriters;
  readonly record: (taskId: string) => Promise<TaskRecord>;
  readonly act: (action: TaskClientAction, by: string) => Promise<Outcome>;
  /** Throws MACHINE_NOT_FOUND. */
  readonly openFarTerminal: (terminal: FarTerminalOptions) => PageTerminal;
  readonly version: string;
  readonly homeDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const dispatchSchema = z.object({ type: z.literal('dispatch'), id: z.int().positive() });

/** One page: its subscriptions, its terminals, and what it asks for. */
export class BoardSocket implements Disposable {
  readonly #services: SocketServices;
  readonly #port: PagePort;
  /** Tells pages of one kind apart. */
  readonly #number: number;
  readonly #helloLimit: Disposable;
  /** By channel, also while it is being opened. */
  readonly #following = new Map<string, Promise<Disposable | undefined>>();
  readonly #terminals = new Map<string, PageTerminal>();
  #client: string | undefined;
  #streams = 0;

  constructor(port: PagePort, number: number, services: SocketServices) {
    this.#port = port;
    this.#number = number;
    this.#services = services;
    port.onData((data) => {
      port.taken(data.length);
      this.#received(data);
    });
    port.onClose(() => this.dispose());
    this.#helloLimit = services.clock.after(HELLO_LIMIT_MS, () => {
      if (this.#client === undefined) port.refuse('no hello');
    });
  }

  dispose(): void {
    this.#helloLimit.dispose();
    for (const channel of [...this.#following.keys()]) this.#leave(channel);
    for (const terminal of this.#terminals.values()) terminal.dispose();
    this.#terminals.clear();
    this.#port.dispose();
  }

  #received(data: string | Uint8Array): void {
    const raw = typeof data === 'string' ? jsonOf(data) : undefined;
    const message = clientMessageSchema.safeParse(raw);
    if (message.success) {
      if (this.#client === undefined) return this.#hello(message.data);
      return this.#handle(message.data, this.#client);
    }
    const [issue] = message.error.issues;
    const why =
      typeof data !== 'string'
        ? 'it is binary'
        : `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim();
    const error = {
      code: 'INVALID_ARGUMENTS',
      message: `A message was not understood: ${why}.`,
      hint: 'The page is of another version: load it again.',
    };
    const id = this.#client === undefined ? undefined : dispatchSchema.safeParse(raw).data?.id;
    this.#send(id === undefined ? { type: 'refused', error } : { type: 'result', id, ok: false, error });
    if (this.#client === undefined) this.#port.refuse('no hello');
  }

  #hello(message: ClientMessage): void {
    const { isToken, version, homeDir: home } = this.#services;
    if (message.type !== 'hello' || !isToken(message.token)) return this.#port.refuse('no token');
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
      this.#refused(channel, error);
      return undefined;
    }
  }

  #openTerminal(channel: string, client: string): void {
    const taskId = channel.slice('term:/'.length);
    const there = farIdOf(taskId);
    const options = {
      ...this.#services,
      taskId: there?.id ?? taskId,
      client,
      nextStream: () => ++this.#streams,
      sendState: (state: TerminalState) => {
        // One that the page has left may still change.
        if (this.#terminals.get(channel) !== terminal) return;
        this.#send({ type: 'values', channel, whole: true, set: { terminal: state }, del: [] });
      },
      sendFrame: (frame: Uint8Array) => this.#port.send(frame),
    };
    let terminal: PageTerminal;
    try {
      terminal =
        there === undefined
          ? new TerminalStream({ ...options, stream: options.nextStream() })
          : this.#services.openFarTerminal({ ...options, machine: there.machine });
    } catch (error) {
      this.#refused(channel, error);
      return;
    }
    this.#terminals.set(channel, terminal);
    void terminal.start();
  }

  #refused(channel: string, error: unknown): void {
    this.#send({ type: 'refused', channel, error: actionErrorOf(error, this.#services.logger) });
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
      const outcome = isTerminalAction(action)
        ? await this.#actOnTerminal(action)
        : await this.#services.act(action, `board/${client}`);
      this.#send({ type: 'result', id, ...outcome });
    } catch (error) {
      this.#send({ type: 'result', id, ok: false, error: actionErrorOf(error, this.#services.logger) });
    }
  }

  async #actOnTerminal(action: TerminalClientAction): Promise<Outcome> {
    const terminal = this.#terminals.get(`term:/${action.task_id}`);
    if (terminal === undefined)
      throw new BridgeError('INVALID_ARGUMENTS', 'The page does not show this terminal.', 'Open it first.');
    return terminal.act(action);
  }

  #send(message: ServerMessage): void {
    if (this.#port.queued > MAX_QUEUE_BYTES) this.#port.dispose();
    else this.#port.send(JSON.stringify(message));
  }
}

function isTerminalAction(action: ClientAction): action is TerminalClientAction {
  return action.type.startsWith('term.');
}
