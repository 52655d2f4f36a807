import { farIdOf } from '../base/ids.js';
import { Emitter, type Disposable } from '../base/lifecycle.js';
import { act, farOf, type ActServices, type TaskClientAction } from './act.js';
import { openBoardFeed } from './board-feed.js';
import { Channels, type Put } from './channel.js';
import { openDiffFeed } from './diff-feed.js';
import type { FarBoards } from './far/far-boards.js';
import type { PagePort } from './page-port.js';
import type { Outcome } from './protocol.js';
import { BoardSocket, type SocketServices } from './socket.js';
import { openTaskFeed, type TaskFeedOptions } from './task-feed.js';
import { TerminalWriters } from './terminal-stream.js';

/** Pages at once. */
const MAX_PAGES = 16;

export interface PageOptions extends ActServices, TaskFeedOptions {
  readonly version: string;
  readonly homeDir: string;
  /** The boards of other machines; left out where no machine is set, and for a page of another machine. */
  readonly far?: FarBoards | undefined;
}

/** The pages of one board, over connections of any kind, and what they share. */
export class BoardPages implements Disposable {
  readonly #shared: SocketServices;
  readonly #open = new Set<BoardSocket>();
  readonly #changes = new Emitter<number>();
  #number = 0;
  /** How many pages are open. */
  readonly onChange = this.#changes.event;

  /** `isToken`: whether a page that says this token is let in. */
  constructor(options: PageOptions, isToken: (token: string) => boolean) {
    const { clock, logger, tasks, version, homeDir, far } = options;
    this.#shared = {
      ...{ version, homeDir, clock, logger, isToken },
      writers: new TerminalWriters(),
      record: (taskId) => tasks.get(taskId),
      act: (action, by) => actAnywhere(action, by, options),
      openFarTerminal: (terminal) => farOf(far, terminal.machine).openTerminal(terminal),
      channels: new Channels((name, put) => openAnywhere(name, put, options)),
    };
  }

  get count(): number {
    return this.#open.size;
  }

  /** Serves a page until its connection ends. False where too many pages are open. */
  open(port: PagePort): boolean {
    if (this.#open.size >= MAX_PAGES) return false;
    const page = new BoardSocket(port, ++this.#number, this.#shared);
    this.#open.add(page);
    this.#changes.fire(this.#open.size);
    port.onClose(() => {
      this.#open.delete(page);
      this.#changes.fire(this.#open.size);
    });
    return true;
  }

  dispose(): void {
    for (const page of this.#open) page.dispose();
  }
}

async function openAnywhere(name: string, put: Put, options: PageOptions): Promise<Disposable> {
  const [kind, taskId = ''] = name.split(/:\/(.*)/);
  if (kind === 'board')
    return (
      options.far?.openBoard((local) => openBoardFeed(options, local), put) ?? openBoardFeed(options, put)
    );
  const there = farIdOf(taskId);
  if (there !== undefined) return farOf(options.far, there.machine).openChannel(name, there.machine, put);
  return kind === 'diff' ? openDiffFeed(options, put, taskId) : openTaskFeed(options, put, taskId);
}

async function actAnywhere(action: TaskClientAction, by: string, options: PageOptions): Promise<Outcome> {
  const machine = action.type === 'task.start' ? action.machine : farIdOf(action.task_id)?.machine;
  if (machine !== undefined) return farOf(options.far, machine).act(machine, action);
  return { ok: true, ...(await act(action, by, options)) };
}
