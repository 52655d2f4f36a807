import { randomUUID } from 'node:crypto';
import { WebSocketServer, type WebSocket } from 'ws';
import { Emitter, type Disposable } from '../base/lifecycle.js';
import { Access } from './access.js';
import { act, type ActServices } from './act.js';
import { openBoardFeed } from './board-feed.js';
import type { BoardLink } from './board-place.js';
import { listenForPages, type Asset, type BoardHttpServer } from './http-server.js';
import { openDiffFeed } from './diff-feed.js';
import { Channels } from './channel.js';
import { MAX_MESSAGE_BYTES } from './protocol.js';
import { BoardSocket, type SocketServices } from './socket.js';
import { linkTo } from './door.js';
import { openTaskFeed, type TaskFeedOptions } from './task-feed.js';
import { TerminalWriters } from './terminal-stream.js';

/** Pages at once. */
const MAX_PAGES = 16;
/** Without a page the board ends after this time. */
const IDLE_MS = 15 * 60_000;
const TRY_AGAIN_LATER = 1013;

/** What pages show, and do for the person at them. */
export interface PageOptions extends ActServices, TaskFeedOptions {
  readonly version: string;
  readonly homeDir: string;
}

export interface BoardOptions extends PageOptions {
  readonly assets: ReadonlyMap<string, Asset>;
  /** Of all pages. */
  readonly token: string;
}

/** The board: a page on loopback that shows all tasks and what they ask. It holds nothing that is not in the state directory. */
export class Board {
  readonly id = randomUUID();
  readonly #options: BoardOptions;
  readonly #shared: SocketServices;
  readonly #sockets = new Set<BoardSocket>();
  readonly #upgrades = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  readonly #over = new Emitter<string>();
  #server: BoardHttpServer | undefined;
  #idle: Disposable | undefined;
  #pages = 0;
  /** Why the board should end: no page is open. */
  readonly onOver = this.#over.event;

  private constructor(options: BoardOptions) {
    this.#options = options;
    const { clock, logger, token, tasks, version, homeDir, far } = options;
    this.#shared = {
      ...{ version, homeDir, clock, logger, far },
      access: new Access(clock, token),
      writers: new TerminalWriters(),
      record: (taskId) => tasks.get(taskId),
      act: (action, by) => act(action, by, options),
      channels: new Channels((name, put) => {
        const [kind, taskId = ''] = name.split(/:\/(.*)/);
        if (kind === 'board') return openBoardFeed(options, put);
        if (kind === 'diff') return openDiffFeed(options, put, taskId);
        return openTaskFeed(options, put, taskId);
      }),
    };
  }

  /** Listens on 127.0.0.1; `port` 0 chooses a free one. */
  static async start(options: BoardOptions, port: number): Promise<Board> {
    const board = new Board(options);
    const { assets, clock, logger } = options;
    board.#server = await listenForPages(
      {
        ...{ assets, clock, logger, access: board.#shared.access },
        onUpgrade: (request, socket, head) =>
          board.#upgrades.handleUpgrade(request, socket, head, (opened) => board.#welcome(opened)),
      },
      port,
    );
    board.#restartIdle();
    return board;
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  /** A link that opens one page. */
  link(): BoardLink {
    const { version, token, clock } = this.#options;
    return linkTo({ port: this.port, board_id: this.id, version, token }, clock.now());
  }

  async close(): Promise<void> {
    this.#idle?.dispose();
    for (const socket of this.#sockets) socket.dispose();
    this.#upgrades.close();
    await this.#server?.close();
  }

  #welcome(opened: WebSocket): void {
    if (this.#sockets.size >= MAX_PAGES) return opened.close(TRY_AGAIN_LATER, 'too many pages');
    const socket = new BoardSocket(opened, ++this.#pages, this.#shared);
    this.#sockets.add(socket);
    this.#restartIdle();
    opened.on('close', () => {
      this.#sockets.delete(socket);
      this.#restartIdle();
    });
  }

  #restartIdle(): void {
    this.#idle?.dispose();
    if (this.#sockets.size > 0) return;
    this.#idle = this.#options.clock.after(IDLE_MS, () =>
      this.#over.fire('No page was open for 15 minutes.'),
    );
  }
}
