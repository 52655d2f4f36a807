import type { Socket } from 'node:net';
import { z } from 'zod';
import { Emitter } from '../../base/event.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { DecisionAnswer, ScreenText, SentMessage, TaskLink } from '../../tasks/task-host.js';
import { TaskUnreachable } from '../../tasks/unreachable.js';
import { openSocket } from '../wire/open-socket.js';
import { Requests, type RequestFailure } from '../wire/requests.js';
import {
  recordAnswerSchema,
  screenAnswerSchema,
  taskPushSchema,
  type KeeperMessage,
  type TerminalPush,
  type TerminalView,
} from '../wire/task-messages.js';

/** A TaskLink over the keeper's socket. */
export class KeeperClient implements TaskLink {
  readonly #records = new Emitter<TaskRecord>();
  readonly #changes = new Emitter<number>();
  readonly #terminal = new Emitter<TerminalPush>();
  readonly #closes = new Emitter<void>();
  /** One that watches the terminal gets the record after each change, too. */
  readonly onRecord = this.#records.event;
  readonly onDidChange = this.#changes.event;
  /** What the terminal of a watcher is to show. */
  readonly onTerminal = this.#terminal.event;
  readonly onDidClose = this.#closes.event;
  readonly #requests: Requests;
  readonly #taskId: string;

  private constructor(taskId: string, socket: Socket) {
    this.#taskId = taskId;
    this.#requests = new Requests(socket, {
      onPush: (line) => this.#onPush(line),
      onClose: () => this.#closes.fire(),
      failure: (why) => failureOf(taskId, why),
    });
  }

  /** Undefined when nothing listens there: the keeper is gone. Throws TASK_UNREACHABLE. */
  static async connect(taskId: string, socketPath: string): Promise<KeeperClient | undefined> {
    const socket = await openSocket(
      socketPath,
      (why, isStuck) => new TaskUnreachable(taskId, why, { isStuck }),
    );
    return socket && new KeeperClient(taskId, socket);
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
    if (!push.success) return;
    switch (push.data.push) {
      case 'terminal':
        this.#terminal.fire(push.data);
        return;
      case 'changed':
        this.#changes.fire(push.data.change_seq);
        return;
      case 'record':
        this.#records.fire(push.data.record);
        this.#changes.fire(push.data.record.change_seq);
    }
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
