import type { Clock } from '../../base/clock.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { TaskRun } from '../../tasks/run/task-run.js';
import { noTerminal, TerminalWatchers, type TerminalWatchersOptions } from '../terminal/terminal-watchers.js';
import { type KeeperPeer, KeeperSocket } from '../wire/keeper-socket.js';
import { type TaskCalls, taskMethods } from '../wire/messages.js';

/** A change is sent after this to those who follow the task, so that a burst is sent once. */
const SOON_MS = 20;

export interface KeeperServerOptions {
  /** A run as its clients reach it. */
  readonly run: Pick<TaskRun, 'record' | 'onDidChange' | 'respond' | 'message' | 'kill' | 'screen' | 'typed'>;
  readonly socketPath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The session's terminal, and where keys and attached clients are recorded; without it, the terminal cannot be watched. */
  readonly terminal?: Omit<TerminalWatchersOptions, 'clock' | 'onTyped'>;
}

/** Serves one TaskRun on a Unix socket, to any number of clients. */
export class KeeperServer implements Disposable {
  readonly #owned = new DisposableStore();
  readonly #socket: KeeperSocket<TaskCalls>;
  readonly #watchers: TerminalWatchers | undefined;
  #soon: Disposable | undefined;

  private constructor({ run, clock, logger, socketPath, terminal }: KeeperServerOptions) {
    const watchers = terminal && new TerminalWatchers({ ...terminal, clock, onTyped: () => run.typed() });
    if (watchers !== undefined) this.#owned.add(watchers);
    const mustWatch = (): TerminalWatchers => {
      if (watchers !== undefined) return watchers;
      throw noTerminal('its keeper does not offer it');
    };
    this.#watchers = watchers;
    this.#socket = this.#owned.add(
      new KeeperSocket<TaskCalls>({
        path: socketPath,
        clock,
        logger,
        record: () => run.record,
        methods: taskMethods,
        handlers: {
          respond: ({ answer }) => run.respond(answer),
          message: (sent) => run.message(sent),
          kill: ({ reason }) => run.kill(reason),
          screen: () => run.screen(),
          watch: async ({ view }, peer: KeeperPeer) => {
            peer.follow();
            mustWatch().watch(peer, view);
          },
          type: async ({ keys }, peer: KeeperPeer) => mustWatch().type(peer, Buffer.from(keys, 'base64')),
        },
        onDrain: (peer) => watchers?.caughtUp(peer),
        onLeave: (peer) => watchers?.leave(peer),
      }),
    );
    let sentSeq = run.record.change_seq;
    const changed = run.onDidChange(({ change_seq: seq }) => {
      if (seq === sentSeq) return;
      this.#soon ??= clock.after(SOON_MS, () => {
        this.#soon = undefined;
        // The newest record is sent, not the one that set the timer.
        sentSeq = run.record.change_seq;
        this.#socket.sendRecord('followers');
      });
    });
    this.#owned.add(changed);
  }

  static async start(options: KeeperServerOptions): Promise<KeeperServer> {
    const keeper = new KeeperServer(options);
    await keeper.#socket.listen();
    return keeper;
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
    this.#soon?.dispose();
    this.#owned.dispose();
  }
}
