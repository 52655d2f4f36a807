import { randomUUID } from 'node:crypto';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { ReceiptService } from '../tasks/receipt/task-receipts.js';
import type { TaskFinisher } from '../tasks/task-finisher.js';
import type { TaskService } from '../tasks/task-service.js';
import { Access } from './access.js';
import { act, type ActServices, type TaskClientAction } from './act.js';
import { actionErrorOf } from './action-error.js';
import { AppReader } from './app-reader.js';
import type { AppAct, AppAnswer, AppOutcome, AppRead } from './app-requests.js';
import { openBoardFeed } from './board-feed.js';
import type { BoardLink } from './board-place.js';
import { BoardHttpServer, type Asset } from './http-server.js';
import type { ImageSources } from './changed-images.js';
import { openDiffFeed, type DiffFeedOptions } from './diff-feed.js';
import { Hub, type OpenChannel } from './hub.js';
import type { AlwaysRules } from './always-rules.js';
import { MAX_MESSAGE_BYTES, type ClientAction } from './protocol.js';
import { Replays } from './replay/replays.js';
import type { ReplayOptions } from './replay/replay-feed.js';
import type { Reviews } from './reviews.js';
import { openScreenFeed } from './screen-feed.js';
import { BoardSocket } from './socket.js';
import type { ProcessSource } from './process-feed.js';
import { openTaskFeed } from './task-feed.js';
import { TerminalWriters } from './terminal-writers.js';

/** Pages at once. */
const MAX_PAGES = 16;
/** Without a page, and without an app that reads, the board ends after this time. */
const IDLE_MS = 15 * 60_000;
const TRY_AGAIN_LATER = 1013;

export interface BoardOptions {
  readonly tasks: TaskService;
  readonly finisher: Pick<TaskFinisher, 'finish'>;
  readonly receipts: ReceiptService;
  readonly reviews: Reviews;
  readonly always: AlwaysRules;
  readonly patchOf: DiffFeedOptions['patchOf'];
  readonly readPatch: DiffFeedOptions['readPatch'];
  readonly readSide: ImageSources['readSide'];
  readonly recordingFile: ReplayOptions['recordingFile'];
  readonly reportOf: ReplayOptions['reportOf'];
  readonly replayWorker?: ReplayOptions['replayWorker'];
  readonly tasksDir: string;
  readonly processes: ProcessSource;
  readonly promptFile: (taskId: string) => string;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly version: string;
  /** Of all pages. */
  readonly token: string;
  readonly homeDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The board: a page on loopback that shows all tasks and what they ask. It holds nothing that is not in the state directory. */
export class Board {
  readonly #options: BoardOptions;
  readonly #access: Access;
  readonly #hub: Hub;
  readonly #apps: AppReader;
  readonly #replays: Replays;
  readonly #sockets = new Set<BoardSocket>();
  readonly #upgrades = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  readonly #over = new Emitter<string>();
  readonly #id = randomUUID();
  readonly #writers = new TerminalWriters();
  #server: BoardHttpServer | undefined;
  #idle: Disposable | undefined;
  #pages = 0;
  /** Why the board should end: no page is open. */
  readonly onOver = this.#over.event;

  private constructor(options: BoardOptions) {
    this.#options = options;
    const { clock, token } = options;
    this.#access = new Access(clock, token);
    this.#replays = new Replays(options);
    this.#hub = new Hub({ clock, open: (name, seq) => this.#open(name, seq) });
    this.#apps = new AppReader({ ...options, hub: this.#hub, boardId: this.#id });
  }

  /** Listens on 127.0.0.1; `port` 0 chooses a free one. */
  static async start(options: BoardOptions, port: number): Promise<Board> {
    const board = new Board(options);
    board.#server = await BoardHttpServer.listen(
      {
        access: board.#access,
        clock: options.clock,
        assets: options.assets,
        logger: options.logger,
        onUpgrade: (request, socket, head) => {
          board.#upgrades.handleUpgrade(request, socket, head, (opened) => board.#welcome(opened));
        },
      },
      port,
    );
    board.#restartIdle();
    return board;
  }

  get id(): string {
    return this.#id;
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  /** A link that opens one page. Its code is in the fragment, which a browser sends to no server. */
  link(): BoardLink {
    this.#restartIdle();
    const origin = this.#server?.origin ?? '';
    const { version } = this.#options;
    return {
      url: `${origin}/#code=${this.#access.createCode()}`,
      port: this.port,
      board_id: this.#id,
      version,
    };
  }

  /** It is over: another one is to take its place, and its port. */
  replace(): void {
    this.#over.fire('Another board takes its place.');
  }

  /** What an app in a chat shows next. Throws STATE_UNUSABLE when too many read. */
  async read(query: AppRead, signal: AbortSignal): Promise<AppAnswer> {
    try {
      const reading = this.#apps.read(query, signal);
      this.#restartIdle();
      return await reading;
    } finally {
      this.#restartIdle();
    }
  }

  /** Does what a person asked for at an app. Never rejects. */
  async actFor({ client, action }: AppAct): Promise<AppOutcome> {
    const { logger } = this.#options;
    this.#restartIdle();
    try {
      if (!isForApps(action)) {
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          'An app has no terminal and no replay, reads no files, and writes no rules.',
          'Open the board in a browser.',
        );
      }
      const { task_id } = await act(action, `board/${client}`, this.#actServices);
      return { ok: true, ...(task_id !== undefined && { task_id }) };
    } catch (error) {
      return { ok: false, error: actionErrorOf(error, logger) };
    }
  }

  get #actServices(): ActServices {
    const { tasks, finisher, reviews, always, patchOf, readPatch, readSide } = this.#options;
    const sides = { patchOf, readPatch, readSide };
    return { tasks, finisher, reviews, always, replays: this.#replays, sides };
  }

  async close(): Promise<void> {
    this.#idle?.dispose();
    for (const socket of this.#sockets) socket.dispose();
    this.#hub.dispose();
    this.#upgrades.close();
    await this.#server?.close();
  }

  #welcome(opened: WebSocket): void {
    if (this.#sockets.size >= MAX_PAGES) {
      opened.close(TRY_AGAIN_LATER, 'too many pages');
      return;
    }
    const { tasks, version, homeDir, clock, logger } = this.#options;
    const socket = new BoardSocket(opened, ++this.#pages, {
      hub: this.#hub,
      access: this.#access,
      writers: this.#writers,
      record: (taskId) => tasks.get(taskId),
      act: (action, by) => act(action, by, this.#actServices),
      boardId: this.#id,
      version,
      homeDir,
      clock,
      logger,
    });
    this.#sockets.add(socket);
    this.#restartIdle();
    opened.on('close', () => {
      this.#sockets.delete(socket);
      this.#restartIdle();
    });
  }

  #restartIdle(): void {
    this.#idle?.dispose();
    if (this.#sockets.size > 0 || this.#apps.count > 0) return;
    this.#idle = this.#options.clock.after(IDLE_MS, () =>
      this.#over.fire('No page was open for 15 minutes.'),
    );
  }

  #open(name: string, seq: number): Promise<OpenChannel> {
    if (name === 'board:/') return openBoardFeed(this.#options, name, seq);
    const [kind = '', taskId = ''] = name.split(':/');
    if (kind === 'replay') return this.#replays.open(name, taskId, seq);
    if (kind === 'diff') return openDiffFeed(this.#options, name, taskId, seq);
    if (kind === 'screen') return openScreenFeed(this.#options, name, taskId, seq);
    return openTaskFeed(this.#options, name, taskId, seq);
  }
}

function isForApps(action: ClientAction): action is TaskClientAction {
  return /^(?:decision|task|review)\./.test(action.type);
}
