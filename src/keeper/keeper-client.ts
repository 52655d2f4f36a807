import { createConnection, type Socket } from 'node:net';
import { BridgeError, isErrorCode, systemCodeOf } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import type { TaskRecord } from '../tasks/task.js';
import type { DecisionAnswer, ScreenText, TaskLink } from '../tasks/task-host.js';
import { readJsonLines, writeJsonLine } from './json-lines.js';
import { keeperReplySchema, type KeeperReply, type KeeperRequest } from './messages.js';

/** A keeper answers a wish in milliseconds, a kill within its ladder; a minute of silence is no answer. */
const REPLY_LIMIT_MS = 60_000;
/** A keeper that is there accepts at once. */
const CONNECT_LIMIT_MS = 2_000;

type Wish = KeeperRequest extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never;

interface Pending {
  readonly resolve: (reply: KeeperReply) => void;
  readonly reject: (fault: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** A TaskLink over the keeper's socket. */
export class KeeperClient implements TaskLink {
  readonly #changes = new Emitter<TaskRecord>();
  readonly #closes = new Emitter<void>();
  readonly onDidChange = this.#changes.event;
  readonly onDidClose = this.#closes.event;
  readonly #socket: Socket;
  readonly #taskId: string;
  readonly #pending = new Map<number, Pending>();
  #next = 1;
  #closed = false;

  private constructor(taskId: string, socket: Socket) {
    this.#taskId = taskId;
    this.#socket = socket;
    readJsonLines(socket, (value) => this.#onLine(value));
    socket.on('close', () => this.#onClose());
    socket.on('error', () => socket.destroy());
  }

  /** Undefined when nobody listens there: the keeper is gone. */
  static connect(taskId: string, socketPath: string): Promise<KeeperClient | undefined> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(socketPath);
      socket.setTimeout(CONNECT_LIMIT_MS, () =>
        socket.destroy(new Error('the keeper did not accept the connection')),
      );
      socket.once('connect', () => {
        socket.setTimeout(0);
        socket.removeListener('error', onError);
        resolve(new KeeperClient(taskId, socket));
      });
      const onError = (fault: Error): void => {
        const code = systemCodeOf(fault);
        if (code === 'ENOENT' || code === 'ECONNREFUSED') resolve(undefined);
        else reject(unreachable(taskId, fault.message));
      };
      socket.on('error', onError);
    });
  }

  respond(answer: DecisionAnswer): Promise<TaskRecord> {
    return this.#recordOf({ method: 'respond', answer });
  }

  message(message: { readonly text?: string; readonly interrupt?: boolean }): Promise<TaskRecord> {
    return this.#recordOf({ method: 'message', ...message });
  }

  kill(reason: string): Promise<TaskRecord> {
    return this.#recordOf({ method: 'kill', reason });
  }

  async screen(): Promise<ScreenText> {
    const reply = await this.#ask({ method: 'screen' });
    if ('screen' in reply) return reply.screen;
    throw unreachable(this.#taskId, 'its keeper answered something else');
  }

  dispose(): void {
    this.#socket.destroy();
    this.#onClose();
    this.#changes.dispose();
    this.#closes.dispose();
  }

  async #recordOf(wish: Wish): Promise<TaskRecord> {
    const reply = await this.#ask(wish);
    if ('record' in reply) return reply.record;
    throw unreachable(this.#taskId, 'its keeper answered something else');
  }

  async #ask(wish: Wish): Promise<KeeperReply> {
    if (this.#closed) throw unreachable(this.#taskId, 'its keeper is gone');
    const id = this.#next++;
    const reply = await new Promise<KeeperReply>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(unreachable(this.#taskId, `its keeper did not answer within ${REPLY_LIMIT_MS / 1000} s`));
      }, REPLY_LIMIT_MS);
      this.#pending.set(id, { resolve, reject, timer });
      writeJsonLine(this.#socket, { id, ...wish });
    });
    if ('error' in reply) {
      const { code, message, hint } = reply.error;
      throw new BridgeError(isErrorCode(code) ? code : 'INTERNAL_ERROR', message, hint);
    }
    return reply;
  }

  #onLine(value: unknown): void {
    const reply = keeperReplySchema.safeParse(value);
    if (!reply.success) {
      this.#socket.destroy();
      return;
    }
    if ('push' in reply.data) {
      this.#changes.fire(reply.data.record);
      return;
    }
    const pending = this.#pending.get(reply.data.id);
    if (pending === undefined) return;
    this.#pending.delete(reply.data.id);
    clearTimeout(pending.timer);
    pending.resolve(reply.data);
  }

  #onClose(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(unreachable(this.#taskId, 'its keeper went away'));
    }
    this.#pending.clear();
    this.#closes.fire();
  }
}

function unreachable(taskId: string, why: string): BridgeError {
  return new BridgeError(
    'TASK_UNREACHABLE',
    `Task ${taskId} cannot be reached: ${why}.`,
    'Call get_task_status: when its keeper is gone, the task is given a truthful end.',
  );
}
