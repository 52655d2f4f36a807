import type { Clock } from '../../base/clock.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { TaskRun } from '../../tasks/run/task-run.js';
import type { TaskRecord } from '../../tasks/task.js';
import { noTerminal, TerminalWatchers, type TerminalWatchersOptions } from '../terminal/terminal-watchers.js';
import { type KeeperPeer, KeeperSocket } from '../wire/keeper-socket.js';
import { type Handlers, type TaskCalls, taskMethods } from '../wire/messages.js';

/** A change that callers wait for is pushed after this, so that a burst is pushed once. */
const SOON_MS = 20;
/** A change of the view only (output, activity) is pushed this often: a burst must not occupy every server. */
const CALM_MS = 250;

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
  readonly #socket: KeeperSocket<TaskCalls>;
  readonly #watchers: TerminalWatchers | undefined;
  /** The push that is due next. */
  #due: { readonly atMs: number; readonly timer: Disposable } | undefined;
  #pushedSeq = -1;

  private constructor(options: KeeperServerOptions) {
    const { run, clock, logger, socketPath, terminal } = options;
    this.#run = run;
    this.#socket = this.#owned.add(
      new KeeperSocket({
        path: socketPath,
        clock,
        logger,
        record: () => run.record,
        change: () => ({ push: 'changed', change_seq: run.record.change_seq }),
        methods: taskMethods,
        handlers: this.#handlers(),
        onDrain: (peer) => this.#watchers?.caughtUp(peer),
        onLeave: (peer) => this.#watchers?.leave(peer),
      }),
    );
    if (terminal !== undefined)
      this.#watchers = this.#owned.add(
        new TerminalWatchers({ ...terminal, clock, onTyped: () => run.typed() }),
      );
    this.#owned.add(run.onDidChange((record) => this.#changed(record, clock)));
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
    this.#due?.timer.dispose();
    this.#owned.dispose();
  }

  #changed({ change_seq: seq, answered }: TaskRecord, clock: Clock): void {
    // An answered question has nothing more to wait for.
    const delayMs = seq === this.#pushedSeq ? CALM_MS : answered === true ? 0 : SOON_MS;
    const atMs = clock.monotonicMs() + delayMs;
    if (this.#due !== undefined && this.#due.atMs <= atMs) return;
    this.#due?.timer.dispose();
    const timer = clock.after(delayMs, () => {
      this.#due = undefined;
      // The newest record is sent, not the one that set the timer.
      this.#pushedSeq = this.#run.record.change_seq;
      this.#socket.sendChange();
    });
    this.#due = { atMs, timer };
  }

  #handlers(): Handlers<TaskCalls, KeeperPeer> {
    const run = this.#run;
    return {
      respond: ({ answer }) => run.respond(answer),
      message: (sent) => run.message(sent),
      kill: ({ reason }) => run.kill(reason),
      screen: () => run.screen(),
      watch: async ({ view }, peer) => {
        peer.follow();
        this.#mustWatch().watch(peer, view);
      },
      type: async ({ keys }, peer) => this.#mustWatch().type(peer, Buffer.from(keys, 'base64')),
    };
  }

  #mustWatch(): TerminalWatchers {
    if (this.#watchers !== undefined) return this.#watchers;
    throw noTerminal('its keeper does not offer it');
  }
}
