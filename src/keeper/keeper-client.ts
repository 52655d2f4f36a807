import { createConnection, type Socket } from 'node:net';
import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError, isErrorCode, systemCodeOf } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import type { TaskRecord } from '../tasks/task.js';
import type { DecisionAnswer, ScreenText, TaskLink } from '../tasks/task-host.js';
import { TaskUnreachable } from '../tasks/unreachable.js';
import { readJsonLines, writeJsonLine } from './json-lines.js';
import {
  keeperReplySchema,
  numberedSchema,
  PROTOCOL,
  type KeeperHello,
  type KeeperReply,
  type KeeperRequest,
  type PeerRole,
  type TerminalPush,
  type TerminalView,
} from './messages.js';

/** A keeper answers a wish in milliseconds, a kill within its ladder; every call of a tool must answer within 45 s. */
const REPLY_LIMIT_MS = 40_000;
/** A keeper greets at once; one that has not by then was halted, or hangs. */
const GREETING_LIMIT_MS = 5_000;
/** A keeper that is there accepts at once. */
const CONNECT_LIMIT_MS = 2_000;
/** Of a connection that nobody took: no socket, nobody who listens, or one who stopped listening before he took it. */
const NOBODY: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET']);
/** More wait to be accepted than the system keeps (connect(2), Unix sockets). */
const QUEUE_IS_FULL = 'EAGAIN';
/** The first protocol that knows `hello` and watchers. */
const HELLO_PROTOCOL = 2;

type Wish = KeeperRequest extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never;

interface Pending {
  readonly resolve: (reply: KeeperReply) => void;
  readonly reject: (fault: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** A TaskLink over the keeper's socket. */
export class KeeperClient implements TaskLink {
  readonly #changes = new Emitter<TaskRecord>();
  readonly #terminal = new Emitter<TerminalPush>();
  readonly #closes = new Emitter<void>();
  readonly onDidChange = this.#changes.event;
  /** What the terminal of a watcher is to show. */
  readonly onTerminal = this.#terminal.event;
  readonly onDidClose = this.#closes.event;
  /** What the keeper said of itself, once; undefined for one of an older version, and when it goes away before. */
  readonly greeted: Promise<KeeperHello | undefined>;
  readonly #socket: Socket;
  readonly #taskId: string;
  readonly #role: PeerRole;
  readonly #pending = new Map<number, Pending>();
  #resolveGreeted: (hello: KeeperHello | undefined) => void = () => undefined;
  readonly #silence: NodeJS.Timeout;
  #isGreeted = false;
  #isSilent = false;
  #next = 1;
  #closed = false;

  private constructor(taskId: string, socket: Socket, role: PeerRole) {
    this.#taskId = taskId;
    this.#socket = socket;
    this.#role = role;
    this.greeted = new Promise((resolve) => (this.#resolveGreeted = resolve));
    readJsonLines(socket, (value) => this.#onLine(value));
    socket.on('close', () => this.#onClose());
    socket.on('error', () => socket.destroy());
    // Who waits for it has asked for something, and that has a timer of its own.
    this.#silence = setTimeout(() => this.#onSilence(), GREETING_LIMIT_MS).unref();
  }

  /** Undefined when nobody listens there: the keeper is gone. */
  static connect(
    taskId: string,
    socketPath: string,
    role: PeerRole = 'caller',
  ): Promise<KeeperClient | undefined> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(socketPath);
      socket.setTimeout(CONNECT_LIMIT_MS, () =>
        socket.destroy(new Error('the keeper did not accept the connection')),
      );
      socket.once('connect', () => {
        socket.setTimeout(0);
        socket.removeListener('error', onError);
        resolve(new KeeperClient(taskId, socket, role));
      });
      const onError = (fault: Error): void => {
        const code = systemCodeOf(fault);
        if (NOBODY.has(code)) resolve(undefined);
        // Any other code is a fault of this side (no descriptors, no access), which says nothing of the keeper.
        else
          reject(
            new TaskUnreachable(taskId, fault.message, {
              isStuck: code === undefined || code === QUEUE_IS_FULL,
            }),
          );
      };
      socket.on('error', onError);
    });
  }

  /** As `greeted`, for who can do nothing before. Throws TASK_UNREACHABLE when it says nothing for five seconds. */
  async introduced(clock: Clock): Promise<KeeperHello | undefined> {
    const hello = await withinMs(
      clock,
      GREETING_LIMIT_MS,
      this.greeted.then((said) => ({ said })),
    );
    if (hello === undefined) throw silent(this.#taskId);
    return hello.said;
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
    throw new TaskUnreachable(this.#taskId, 'its keeper answered something else');
  }

  /** Watches the terminal, or changes the view. Throws TASK_NOT_RUNNING when the task has none. */
  async watch(view: TerminalView): Promise<void> {
    await this.#ask({ method: 'watch', view });
  }

  /** Throws TASK_NOT_RUNNING when nobody takes the keys. */
  async type(keys: Uint8Array): Promise<void> {
    await this.#ask({ method: 'type', keys: Buffer.from(keys).toString('base64') });
  }

  /** Reads nothing more until `resume`; the keeper notices, and sends less. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Does not keep this process alive. */
  unref(): void {
    this.#socket.unref();
  }

  dispose(): void {
    this.#socket.destroy();
    this.#onClose();
    this.#changes.dispose();
    this.#terminal.dispose();
    this.#closes.dispose();
  }

  async #recordOf(wish: Wish): Promise<TaskRecord> {
    const reply = await this.#ask(wish);
    if ('id' in reply && 'record' in reply) return reply.record;
    throw new TaskUnreachable(this.#taskId, 'its keeper answered something else');
  }

  async #ask(wish: Wish): Promise<KeeperReply> {
    if (this.#closed) throw new TaskUnreachable(this.#taskId, 'its keeper is gone', { isStuck: true });
    if (this.#isSilent) throw silent(this.#taskId);
    const id = this.#next++;
    const reply = await new Promise<KeeperReply>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(
          new TaskUnreachable(this.#taskId, `its keeper did not answer within ${REPLY_LIMIT_MS / 1000} s`),
        );
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
      this.#onUnknown(value);
      return;
    }
    if (!('push' in reply.data)) this.#settle(reply.data.id)?.resolve(reply.data);
    else if (reply.data.push === 'terminal') this.#terminal.fire(reply.data);
    else {
      this.#greet(reply.data.protocol);
      this.#changes.fire(reply.data.record);
    }
  }

  /** A keeper of another version: an answer is missed by whoever asked, the rest by nobody. */
  #onUnknown(value: unknown): void {
    const numbered = numberedSchema.safeParse(value);
    if (numbered.success)
      this.#settle(numbered.data.id)?.reject(
        new TaskUnreachable(
          this.#taskId,
          'its keeper, of another version of the bridge, answered in its own way',
        ),
      );
    else this.#greet(undefined);
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }

  /** A keeper says its protocol first; one that says none would hang up on a hello. */
  #greet(protocol: number | undefined): void {
    if (this.#isGreeted) return;
    this.#isGreeted = true;
    this.#isSilent = false;
    clearTimeout(this.#silence);
    if (protocol === undefined || protocol < HELLO_PROTOCOL) {
      this.#resolveGreeted(undefined);
      return;
    }
    this.#ask({ method: 'hello', protocol: PROTOCOL, role: this.#role }).then(
      (reply) => this.#resolveGreeted('hello' in reply ? reply.hello : undefined),
      // It went away, which is told by the closing.
      () => this.#resolveGreeted(undefined),
    );
  }

  /** The connection stays: one that wakes up finds there who waits for it. */
  #onSilence(): void {
    this.#isSilent = true;
    this.#rejectAll(silent(this.#taskId));
  }

  #onClose(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#silence);
    this.#resolveGreeted(undefined);
    this.#rejectAll(new TaskUnreachable(this.#taskId, 'its keeper went away', { isStuck: true }));
    this.#closes.fire();
  }

  #rejectAll(fault: TaskUnreachable): void {
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(fault);
    }
    this.#pending.clear();
  }
}

function silent(taskId: string): TaskUnreachable {
  return new TaskUnreachable(taskId, 'its keeper does not answer', { isStuck: true });
}
