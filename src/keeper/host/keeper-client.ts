import type { Duplex } from 'node:stream';
import { Emitter } from '../../base/lifecycle.js';
import { taskRecordSchema, type TaskRecord } from '../../tasks/task.js';
import type { DecisionAnswer, ScreenText, SentMessage, TaskLink } from '../../tasks/task-host.js';
import { TaskUnreachable } from '../../tasks/task-refusals.js';
import { Link, type LinkFailure, openSocket } from '../wire/link.js';
import type { Push, TerminalPush, TerminalView } from '../wire/messages.js';

const WHY: Readonly<Record<LinkFailure, string>> = {
  closed: 'its keeper is gone',
  silent: 'its keeper does not answer',
  late: 'its keeper did not answer in time',
  unread: 'its keeper is of another version of the bridge, and its answer cannot be read',
};

/** A TaskLink over the keeper's socket, or over another stream of its bytes. */
export class KeeperClient extends Link implements TaskLink {
  readonly #taskId: string;
  readonly #records = new Emitter<TaskRecord>();
  readonly #terminal = new Emitter<TerminalPush>();
  readonly #closes = new Emitter<void>();
  /** One that watches the terminal gets the record after each change, too. */
  readonly onRecord = this.#records.event;
  /** What the terminal of a watcher is to show. */
  readonly onTerminal = this.#terminal.event;
  readonly onDidClose = this.#closes.event;

  constructor(taskId: string, socket: Duplex) {
    super(socket);
    this.#taskId = taskId;
  }

  /** Undefined when nothing listens there: the keeper is gone. Throws TASK_UNREACHABLE. */
  static async connect(taskId: string, socketPath: string): Promise<KeeperClient | undefined> {
    const failure = (why: string, isStuck: boolean): Error => new TaskUnreachable(taskId, why, { isStuck });
    const socket = await openSocket(socketPath, failure);
    return socket && new KeeperClient(taskId, socket);
  }

  respond(answer: DecisionAnswer, request?: string): Promise<TaskRecord> {
    return this.call('respond', { answer, request });
  }

  message({ text, interrupt, by }: SentMessage, request?: string): Promise<TaskRecord> {
    return this.call('message', { text, interrupt, by, request });
  }

  kill(reason: string): Promise<TaskRecord> {
    return this.call('kill', { reason });
  }

  screen(): Promise<ScreenText> {
    return this.call('screen', {});
  }

  /** Watches the terminal, or changes the view. Throws TASK_NOT_RUNNING when the task has none. */
  async watch(view: TerminalView): Promise<void> {
    await this.call('watch', { view });
  }

  /** Throws TASK_NOT_RUNNING when nothing accepts the keys. */
  async type(keys: Uint8Array): Promise<void> {
    await this.call('type', { keys: Buffer.from(keys).toString('base64') });
  }

  /** Reads nothing until `resume`, so the keeper sends less. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  override dispose(): void {
    super.dispose();
    for (const emitter of [this.#records, this.#terminal, this.#closes]) emitter.dispose();
  }

  protected onPush(push: Push): void {
    if (push.push === 'terminal') return this.#terminal.fire(push);
    const record = taskRecordSchema.safeParse(push.record).data;
    if (record !== undefined) this.#records.fire(record);
  }

  protected onClosed(): void {
    this.#closes.fire();
  }

  protected failure(why: LinkFailure): Error {
    return new TaskUnreachable(this.#taskId, WHY[why], { isStuck: why === 'closed' || why === 'silent' });
  }
}
