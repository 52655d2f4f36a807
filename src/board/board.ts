import { randomUUID } from 'node:crypto';
import { WebSocketServer, type WebSocket } from 'ws';
import { Emitter, type Disposable } from '../base/lifecycle.js';
import { Access } from './access.js';
import type { BoardLink } from './board-place.js';
import { listenForPages, type Asset, type BoardHttpServer } from './http-server.js';
import { linkTo } from './door.js';
import { socketPort } from './page-port.js';
import { BoardPages, type PageOptions } from './pages.js';
import { MAX_MESSAGE_BYTES } from './protocol.js';

/** Without a page the board ends after this time. */
const IDLE_MS = 15 * 60_000;
const TRY_AGAIN_LATER = 1013;

export interface BoardOptions extends PageOptions {
  readonly assets: ReadonlyMap<string, Asset>;
  /** Of all pages. */
  readonly token: string;
}

/** The board: a page on loopback that shows all tasks and what they ask. It holds nothing that is not in the state directory. */
export class Board {
  readonly id = randomUUID();
  readonly #options: BoardOptions;
  readonly #access: Access;
  readonly #pages: BoardPages;
  readonly #upgrades = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  readonly #over = new Emitter<string>();
  #server: BoardHttpServer | undefined;
  #idle: Disposable | undefined;
  /** Why the board should end: no page is open. */
  readonly onOver = this.#over.event;

  private constructor(options: BoardOptions) {
    this.#options = options;
    this.#access = new Access(options.clock, options.token);
    this.#pages = new BoardPages(options, (token) => this.#access.isToken(token));
    this.#pages.onChange(() => this.#restartIdle());
  }

  /** Listens on 127.0.0.1; `port` 0 chooses a free one. */
  static async start(options: BoardOptions, port: number): Promise<Board> {
    const board = new Board(options);
    const { assets, clock, logger } = options;
    board.#server = await listenForPages(
      {
        ...{ assets, clock, logger, access: board.#access },
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
    this.#pages.dispose();
    this.#upgrades.close();
    await this.#server?.close();
  }

  #welcome(opened: WebSocket): void {
    const isOpen = this.#pages.open(socketPort(opened, this.#options.logger));
    if (!isOpen) opened.close(TRY_AGAIN_LATER, 'too many pages');
  }

  #restartIdle(): void {
    this.#idle?.dispose();
    if (this.#pages.count > 0) return;
    this.#idle = this.#options.clock.after(IDLE_MS, () =>
      this.#over.fire('No page was open for 15 minutes.'),
    );
  }
}
