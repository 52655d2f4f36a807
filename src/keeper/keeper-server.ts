import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { TaskRun } from '../tasks/task-run.js';
import { readJsonLines, writeJsonLine } from './json-lines.js';
import { RecordPush } from './record-push.js';
import { keeperRequestSchema, type KeeperReply, type KeeperRequest } from './messages.js';

/** A client that does not read is dropped before it costs memory. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** What is being answered when the task ends is told still; a session that ended answers at once. */
const LAST_ANSWERS_MS = 2_000;
/** A client that does not take its last lines is not waited for longer. */
const GOODBYE_MS = 1_000;

/** Serves one TaskRun on a Unix socket, to any number of clients. */
export class KeeperServer implements Disposable {
  readonly #owned = new DisposableStore();
  readonly #clients = new Set<Socket>();
  readonly #server: Server;
  readonly #answering = new Set<Promise<void>>();
  readonly #run: TaskRun;
  readonly #clock: Clock;
  readonly #logger: Logger;

  private constructor(run: TaskRun, clock: Clock, logger: Logger) {
    this.#run = run;
    this.#clock = clock;
    this.#logger = logger;
    this.#server = createServer((socket) => this.#serve(socket));
    const push = this.#owned.add(new RecordPush(clock, () => this.#push()));
    this.#owned.add(run.onDidChange((record) => push.changed(record)));
  }

  /** Listens on `socketPath`, mode 0600; a socket that a dead keeper left there is replaced. */
  static async start(options: {
    readonly run: TaskRun;
    readonly socketPath: string;
    readonly clock: Clock;
    readonly logger: Logger;
  }): Promise<KeeperServer> {
    const keeper = new KeeperServer(options.run, options.clock, options.logger);
    await rm(options.socketPath, { force: true });
    await new Promise<void>((resolve, reject) => {
      keeper.#server.once('error', reject);
      keeper.#server.listen(options.socketPath, resolve);
    });
    await chmod(options.socketPath, 0o600);
    keeper.#server.on('error', (fault) =>
      options.logger.error('the keeper socket failed', { fault: fault.message }),
    );
    return keeper;
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  /** Tells every client the final record and what it asked for, and says goodbye; resolves when all have been told. */
  async finish(): Promise<void> {
    this.#push();
    this.#server.close();
    await withinMs(this.#clock, LAST_ANSWERS_MS, Promise.all(this.#answering));
    const told = [...this.#clients].map(
      (socket) => new Promise<void>((resolve) => (socket.destroyed ? resolve() : socket.end(resolve))),
    );
    await withinMs(this.#clock, GOODBYE_MS, Promise.all(told));
  }

  dispose(): void {
    this.#owned.dispose();
    this.#server.close();
    for (const socket of this.#clients) socket.destroy();
  }

  #serve(socket: Socket): void {
    this.#clients.add(socket);
    socket.on('close', () => this.#clients.delete(socket));
    socket.on('error', (fault) => this.#logger.debug('a keeper client went away', { fault: fault.message }));
    readJsonLines(socket, (value) => {
      const request = keeperRequestSchema.safeParse(value);
      if (!request.success) {
        socket.destroy();
        return;
      }
      const answering = this.#answer(request.data)
        .then((reply) => writeJsonLine(socket, reply))
        .finally(() => this.#answering.delete(answering));
      this.#answering.add(answering);
    });
    writeJsonLine(socket, { push: 'record', record: this.#run.record } satisfies KeeperReply);
  }

  async #answer(request: KeeperRequest): Promise<KeeperReply> {
    try {
      switch (request.method) {
        case 'respond':
          return { id: request.id, record: await this.#run.respond(request.answer) };
        case 'message':
          return {
            id: request.id,
            record: await this.#run.message({
              ...(request.text === undefined ? {} : { text: request.text }),
              ...(request.interrupt === undefined ? {} : { interrupt: request.interrupt }),
            }),
          };
        case 'kill':
          return { id: request.id, record: await this.#run.kill(request.reason) };
        case 'screen':
          return { id: request.id, screen: await this.#run.screen() };
      }
    } catch (fault) {
      return { id: request.id, error: errorOf(fault) };
    }
  }

  #push(): void {
    const reply: KeeperReply = { push: 'record', record: this.#run.record };
    for (const socket of this.#clients) {
      if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
      else writeJsonLine(socket, reply);
    }
  }
}

/** A fault in the form in which it crosses a process border. */
export function errorOf(fault: unknown): { code: string; message: string; hint: string } {
  if (fault instanceof BridgeError) return { code: fault.code, message: fault.message, hint: fault.hint };
  return {
    code: 'INTERNAL_ERROR',
    message: messageOf(fault),
    hint: 'See keeper.log in the task’s state directory.',
  };
}
