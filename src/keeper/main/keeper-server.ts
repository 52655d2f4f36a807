import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { TaskRun } from '../../tasks/run/task-run.js';
import { noTerminal, TerminalWatchers, type TerminalWatchersOptions } from '../terminal/terminal-watchers.js';
import { KeeperSocket } from '../wire/keeper-socket.js';

/** A change is sent after this to those who follow the task, so that a burst is sent once. */
const SOON_MS = 20;

export interface ServeTaskOptions {
  /** A run as its clients reach it. */
  readonly run: Pick<TaskRun, 'record' | 'onDidChange' | 'respond' | 'message' | 'kill' | 'screen' | 'typed'>;
  readonly socketPath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The session's terminal, and where keys and attached clients are recorded; without it, the terminal cannot be watched. */
  readonly terminal?: Omit<TerminalWatchersOptions, 'clock' | 'onTyped'>;
}

export interface TaskServer extends Disposable {
  /** Records what was typed; called before the journal is closed. */
  recordTyped(): void;
  /** Sends every client the final record and the answers to its requests, and closes; resolves when all have read that. */
  finish(): Promise<void>;
}

/** Serves one TaskRun on a Unix socket, to any number of clients. */
export async function serveTask(options: ServeTaskOptions): Promise<TaskServer> {
  const { run, clock, logger, socketPath, terminal } = options;
  const watchers = terminal && new TerminalWatchers({ ...terminal, clock, onTyped: () => run.typed() });
  const mustWatch = (): TerminalWatchers => {
    if (watchers !== undefined) return watchers;
    throw noTerminal('its keeper does not offer it');
  };
  const socket = new KeeperSocket({
    path: socketPath,
    clock,
    logger,
    record: () => run.record,
    handlers: {
      respond: ({ answer, request }) => run.respond(answer, request),
      message: ({ request, ...sent }) => run.message(sent, request),
      kill: ({ reason }) => run.kill(reason),
      screen: () => run.screen(),
      watch: async ({ view }, peer) => {
        peer.follow();
        mustWatch().watch(peer, view);
      },
      type: async ({ keys }, peer) => mustWatch().type(peer, Buffer.from(keys, 'base64')),
    },
    onDrain: (peer) => watchers?.caughtUp(peer),
    onLeave: (peer) => watchers?.leave(peer),
  });
  let soon: Disposable | undefined;
  let sentSeq = run.record.change_seq;
  const changes = run.onDidChange(({ change_seq: seq }) => {
    if (seq === sentSeq) return;
    soon ??= clock.after(SOON_MS, () => {
      soon = undefined;
      // The newest record is sent, not the one that set the timer.
      sentSeq = run.record.change_seq;
      socket.sendRecord('followers');
    });
  });
  await socket.listen();
  return {
    recordTyped: () => watchers?.recordTyped(),
    finish: async () => {
      watchers?.finish();
      await socket.finish();
    },
    dispose: () => {
      for (const one of [soon, changes, socket, watchers]) one?.dispose();
    },
  };
}
