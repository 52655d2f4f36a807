import type { Clock } from '../../base/clock.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { TaskRun } from '../../tasks/run/task-run.js';
import { RecordPush } from './record-push.js';
import { noTerminal, TerminalWatchers, type TerminalWatchersOptions } from '../terminal/terminal-watchers.js';
import type { KeeperPeer } from '../wire/keeper-peer.js';
import { KeeperSocket } from '../wire/keeper-socket.js';
import { keeperRequestSchema, PROTOCOL, type KeeperRequest } from '../wire/task-messages.js';
import { notUnderstood } from '../wire/wire-error.js';

/** A run as its clients reach it. */
export type ServedRun = Pick<
  TaskRun,
  'record' | 'onDidChange' | 'respond' | 'message' | 'kill' | 'screen' | 'typed'
>;

export interface KeeperServerOptions {
  readonly run: ServedRun;
  readonly socketPath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The session's terminal, and where keys and attached clients are recorded; without it, the terminal cannot be watched. */
  readonly terminal?: Omit<TerminalWatchersOptions, 'clock' | 'onTyped'>;
}

/** Serves one TaskRun on a Unix socket, to any number of clients. */
export class KeeperServer implements Disposable {
  readonly #owned = new DisposableStore();
  readonly #run: ServedRun;
  readonly #socket: KeeperSocket;
  readonly #watchers: TerminalWatchers | undefined;

  private constructor(options: KeeperServerOptions) {
    const { run, clock, logger, socketPath, terminal } = options;
    this.#run = run;
    this.#socket = this.#owned.add(
      new KeeperSocket({
        path: socketPath,
        clock,
        logger,
        record: () => ({ push: 'record', record: run.record, protocol: PROTOCOL }),
        change: () => ({ push: 'changed', change_seq: run.record.change_seq }),
        answer: (peer, request) => this.#answer(peer, request),
        onDrain: (peer) => this.#watchers?.caughtUp(peer),
        onLeave: (peer) => this.#watchers?.leave(peer),
      }),
    );
    if (terminal !== undefined)
      this.#watchers = this.#owned.add(
        new TerminalWatchers({ ...terminal, clock, onTyped: () => run.typed() }),
      );
    const push = this.#owned.add(new RecordPush(clock, () => this.#socket.sendChange()));
    this.#owned.add(run.onDidChange((record) => push.changed(record)));
  }

  static async start(options: KeeperServerOptions): Promise<KeeperServer> {
    const keeper = new KeeperServer(options);
    await keeper.#socket.listen();
    return keeper;
  }

  get clientCount(): number {
    return this.#socket.clientCount;
  }

  /** Bytes that were sent to clients and not read yet. */
  get unreadBytes(): number {
    return this.#socket.unreadBytes;
  }

  /** Records what was typed; called before the journal is closed. */
  recordTyped(): void {
    this.#watchers?.recordTyped();
  }

  /** Sends every client the final record and the answers to its requests, and closes; resolves when all have read that. */
  async finish(): Promise<void> {
    this.#watchers?.finish();
    await this.#socket.finish();
  }

  dispose(): void {
    this.#owned.dispose();
  }

  async #answer(peer: KeeperPeer, message: unknown): Promise<object> {
    const parsed = keeperRequestSchema.safeParse(message);
    if (!parsed.success) throw notUnderstood('task', PROTOCOL, message);
    const request: KeeperRequest = parsed.data;
    switch (request.method) {
      case 'respond':
        return { record: await this.#run.respond(request.answer) };
      case 'message': {
        const { text, interrupt, by } = request;
        return {
          record: await this.#run.message({
            ...(text !== undefined && { text }),
            ...(interrupt !== undefined && { interrupt }),
            ...(by !== undefined && { by }),
          }),
        };
      }
      case 'kill':
        return { record: await this.#run.kill(request.reason) };
      case 'screen':
        return { screen: await this.#run.screen() };
      case 'watch':
        peer.follow();
        this.#mustWatch().watch(peer, request.view);
        return { done: true };
      case 'type':
        this.#mustWatch().type(peer, Buffer.from(request.keys, 'base64'));
        return { done: true };
    }
  }

  #mustWatch(): TerminalWatchers {
    if (this.#watchers !== undefined) return this.#watchers;
    throw noTerminal('its keeper does not offer it');
  }
}
