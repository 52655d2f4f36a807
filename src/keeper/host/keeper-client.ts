import type { Socket } from 'node:net';
import { Emitter } from '../../base/lifecycle.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { DecisionAnswer, ScreenText, SentMessage, TaskLink } from '../../tasks/task-host.js';
import { TaskUnreachable } from '../../tasks/unreachable.js';
import { Link, type LinkFailure, openSocket } from '../wire/link.js';
import {
  type TaskCalls,
  taskMethods,
  taskPushSchema,
  type TerminalPush,
  type TerminalView,
} from '../wire/messages.js';

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
  readonly #link: Link<TaskCalls>;

  private constructor(taskId: string, socket: Socket) {
    this.#link = new Link(socket, {
      methods: taskMethods,
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
    return this.#link.call('respond', { answer });
  }

  message(message: SentMessage): Promise<TaskRecord> {
    return this.#link.call('message', message);
  }

  kill(reason: string): Promise<TaskRecord> {
    return this.#link.call('kill', { reason });
  }

  screen(): Promise<ScreenText> {
    return this.#link.call('screen', {});
  }

  /** Watches the terminal, or changes the view. Throws TASK_NOT_RUNNING when the task has none. */
  async watch(view: TerminalView): Promise<void> {
    await this.#link.call('watch', { view });
  }

  /** Throws TASK_NOT_RUNNING when nothing accepts the keys. */
  async type(keys: Uint8Array): Promise<void> {
    await this.#link.call('type', { keys: Buffer.from(keys).toString('base64') });
  }

  /** Reads nothing until `resume`, so the keeper sends less. */
  pause(): void {
    this.#link.pause();
  }

  resume(): void {
    this.#link.resume();
  }

  dispose(): void {
    this.#link.dispose();
    this.#records.dispose();
    this.#changes.dispose();
    this.#terminal.dispose();
    this.#closes.dispose();
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

function failureOf(taskId: string, why: LinkFailure): TaskUnreachable {
  const isStuck = why === 'closed' || why === 'silent' || why === 'unsent';
  return new TaskUnreachable(taskId, WHY[why], { isStuck });
}

const WHY: Readonly<Record<LinkFailure, string>> = {
  closed: 'its keeper is gone',
  silent: 'its keeper does not answer',
  unsent: 'its keeper does not answer',
  late: 'its keeper did not answer in time',
  unread: 'its keeper is of another version of the bridge, and its answer cannot be read',
};
