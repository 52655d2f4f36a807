import type { Socket } from 'node:net';
import { z } from 'zod';
import { withinMs, type Clock } from '../../base/clock.js';
import { Emitter } from '../../base/event.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { DecisionAnswer, ScreenText, SentMessage, TaskLink } from '../../tasks/task-host.js';
import { TaskUnreachable } from '../../tasks/unreachable.js';
import { openSocket } from '../wire/open-socket.js';
import { Requests, type RequestFailure } from '../wire/requests.js';
import {
  helloAnswerSchema,
  PROTOCOL,
  recordAnswerSchema,
  screenAnswerSchema,
  taskPushSchema,
  type KeeperMessage,
  type PeerRole,
  type TerminalPush,
  type TerminalView,
} from '../wire/task-messages.js';

/** A keeper greets at once; one that has not by then was stopped, or hangs. */
const GREETING_LIMIT_MS = 5_000;

/** A TaskLink over the keeper's socket. */
export class KeeperClient implements TaskLink {
  readonly #records = new Emitter<TaskRecord>();
  readonly #changes = new Emitter<number>();
  readonly #terminal = new Emitter<TerminalPush>();
  readonly #closes = new Emitter<void>();
  /** A client with the role `watcher` gets the record after each change. */
  readonly onRecord = this.#records.event;
  readonly onDidChange = this.#changes.event;
  /** What the terminal of a watcher is to show. */
  readonly onTerminal = this.#terminal.event;
  readonly onDidClose = this.#closes.event;
  /** Resolves when the keeper knows the role of this client, has closed the connection, or does not know how it is greeted. */
  readonly greeted: Promise<void>;
  readonly #requests: Requests;
  readonly #taskId: string;
  readonly #role: PeerRole;
  #resolveGreeted: () => void = () => undefined;
  #isGreeted = false;

  private constructor(taskId: string, socket: Socket, role: PeerRole) {
    this.#taskId = taskId;
    this.#role = role;
    this.greeted = new Promise((resolve) => (this.#resolveGreeted = resolve));
    this.#requests = new Requests(socket, {
      onPush: (line) => this.#onPush(line),
      onClose: () => {
        this.#resolveGreeted();
        this.#closes.fire();
      },
      failure: (why) => failureOf(taskId, why),
    });
  }

  /** Undefined when nothing listens there: the keeper is gone. Throws TASK_UNREACHABLE. */
  static async connect(
    taskId: string,
    socketPath: string,
    role: PeerRole = 'caller',
  ): Promise<KeeperClient | undefined> {
    const socket = await openSocket(
      socketPath,
      (why, isStuck) => new TaskUnreachable(taskId, why, { isStuck }),
    );
    return socket && new KeeperClient(taskId, socket, role);
  }

  /** Waits for the greeting. Throws TASK_UNREACHABLE when the keeper sends nothing for five seconds. */
  async introduced(clock: Clock): Promise<void> {
    const greeted = this.greeted.then(() => true);
    if ((await withinMs(clock, GREETING_LIMIT_MS, greeted)) !== true) throw failureOf(this.#taskId, 'silent');
  }

  respond(answer: DecisionAnswer): Promise<TaskRecord> {
    return this.#recordOf({ method: 'respond', answer });
  }

  message(message: SentMessage): Promise<TaskRecord> {
    return this.#recordOf({ method: 'message', ...message });
  }

  kill(reason: string): Promise<TaskRecord> {
    return this.#recordOf({ method: 'kill', reason });
  }

  async screen(): Promise<ScreenText> {
    return (await this.#ask({ method: 'screen' }, screenAnswerSchema)).screen;
  }

  /** Watches the terminal, or changes the view. Throws TASK_NOT_RUNNING when the task has none. */
  async watch(view: TerminalView): Promise<void> {
    await this.#ask({ method: 'watch', view }, z.unknown());
  }

  /** Throws TASK_NOT_RUNNING when nothing accepts the keys. */
  async type(keys: Uint8Array): Promise<void> {
    await this.#ask({ method: 'type', keys: Buffer.from(keys).toString('base64') }, z.unknown());
  }

  /** Reads nothing until `resume`, so the keeper sends less. */
  pause(): void {
    this.#requests.pause();
  }

  resume(): void {
    this.#requests.resume();
  }

  dispose(): void {
    this.#requests.dispose();
    this.#records.dispose();
    this.#changes.dispose();
    this.#terminal.dispose();
    this.#closes.dispose();
  }

  async #recordOf(message: KeeperMessage): Promise<TaskRecord> {
    return (await this.#ask(message, recordAnswerSchema)).record;
  }

  async #ask<T>(message: KeeperMessage, schema: z.ZodType<T>): Promise<T> {
    const answer = schema.safeParse(await this.#requests.request(message));
    if (answer.success) return answer.data;
    throw new TaskUnreachable(
      this.#taskId,
      'its keeper is of another version of the bridge, and its answer cannot be read',
    );
  }

  #onPush(line: unknown): void {
    const push = taskPushSchema.safeParse(line);
    // A keeper of another version sent something that this one does not know.
    if (!push.success) {
      this.#greet();
      return;
    }
    switch (push.data.push) {
      case 'terminal':
        this.#terminal.fire(push.data);
        return;
      case 'changed':
        this.#changes.fire(push.data.change_seq);
        return;
      case 'record':
        this.#greet();
        this.#records.fire(push.data.record);
        this.#changes.fire(push.data.record.change_seq);
    }
  }

  /** A keeper speaks first. */
  #greet(): void {
    if (this.#isGreeted) return;
    this.#isGreeted = true;
    // It may close the connection, which `onDidClose` reports, or be of another version.
    this.#ask({ method: 'hello', protocol: PROTOCOL, role: this.#role }, helloAnswerSchema).then(
      () => this.#resolveGreeted(),
      () => this.#resolveGreeted(),
    );
  }
}

function failureOf(taskId: string, why: RequestFailure): TaskUnreachable {
  switch (why) {
    case 'closed':
      return new TaskUnreachable(taskId, 'its keeper is gone', { isStuck: true });
    case 'silent':
    case 'unsent':
      return new TaskUnreachable(taskId, 'its keeper does not answer', { isStuck: true });
    case 'late':
      return new TaskUnreachable(taskId, 'its keeper did not answer in time');
  }
}
