import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../src/base/system-clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { socketJson } from '../../src/base/socket-json.js';
import { frameOf } from '../../src/board/frame.js';
import type { TerminalPush } from '../../src/keeper/wire/task-messages.js';
import {
  BOARD_PROTOCOL,
  clientMessageSchema,
  type ActionError,
  type ClientAction,
  type ClientMessage,
  type ServerMessage,
  type TerminalState,
} from '../../src/board/protocol.js';
import { emptyBoard, type TaskCard } from '../../src/board/state.js';
import { BoardConnection } from '../../vscode/src/board/board-connection.js';

export const TASK = 'task_0123456789abcdef0123';
export const TERMINAL = `term:/${TASK}`;

/** A task that runs. */
export function taskCard(more: Partial<TaskCard> = {}): TaskCard {
  return {
    task_id: TASK,
    status: 'running',
    is_final: false,
    reason: '',
    activity: '',
    project_path: '/p',
    prompt_summary: 'Fix the tests',
    last_words: '',
    model: null,
    driver: 'interactive',
    permission_mode: 'auto',
    created_at: '2026-01-01T00:00:00Z',
    started_at: '2026-01-01T00:00:00Z',
    ended_at: null,
    elapsed_seconds: 0,
    turns: 0,
    files_changed: 0,
    cost_usd: null,
    queue_position: null,
    trouble: null,
    branch: null,
    worktree_end: null,
    can_continue: false,
    is_ready: false,
    keep_open: false,
    change_seq: 0,
    ...more,
  };
}

/** A board whose words the test says, and a window's connection to it. Both end with the test. */
export class FakeBoard {
  readonly connection: BoardConnection;
  /** Everything that the window has sent. */
  readonly got: ClientMessage[] = [];
  /** Answers actions by itself. */
  answers = true;
  /** Refuses the next connections. */
  isAway = false;
  #socket: WebSocket | undefined;
  #sentBytes = 0;
  #seqs = 0;

  private constructor(server: WebSocketServer, url: string) {
    server.on('connection', (socket) => this.#connected(socket));
    this.connection = new BoardConnection({
      open: async () => {
        if (this.isAway) throw new Error('The board is away.');
        const socket = new WebSocket(url);
        await once(socket, 'open');
        const hello: ClientMessage = { type: 'hello', v: BOARD_PROTOCOL, token: '', client: 'vscode' };
        socket.send(JSON.stringify(hello));
        return socket;
      },
      clock: systemClock,
      logger: silentLogger,
    });
  }

  static async start(...cards: readonly TaskCard[]): Promise<FakeBoard> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const board = new FakeBoard(server, `ws://127.0.0.1:${port}`);
    board.cards = cards;
    onTestFinished(() => {
      board.connection.dispose();
      server.close();
    });
    board.connection.start();
    return board;
  }

  /** Of the overview. */
  cards: readonly TaskCard[] = [];

  get actions(): readonly ClientAction[] {
    return this.got.flatMap((message) => (message.type === 'dispatch' ? [message.action] : []));
  }

  get acknowledged(): readonly number[] {
    return this.got.flatMap((message) => (message.type === 'term.ack' ? [message.bytes] : []));
  }

  send(message: ServerMessage): void {
    this.#socket?.send(JSON.stringify(message));
  }

  /** The terminal is opened for the window, or anew. */
  opens(more: Partial<TerminalState> = {}): void {
    const state = { stream: 1, columns: 120, rows: 40, is_part: false, writer: null, closed: null, ...more };
    this.#sentBytes = 0;
    this.#seqs = 0;
    this.send({ type: 'snapshot', channel: TERMINAL, seq: 0, state });
  }

  changes(change: Partial<TerminalState>): void {
    const action = { type: 'term.changed' as const, ...change };
    this.send({ type: 'action', channel: TERMINAL, seq: ++this.#seqs, action });
  }

  prints(kind: TerminalPush['kind'], bytes: Buffer | string, stream = 1): void {
    const data = Buffer.from(bytes);
    this.#socket?.send(frameOf(kind, stream, this.#sentBytes, data));
    this.#sentBytes += data.length;
  }

  shows(task: TaskCard): void {
    this.cards = [...this.cards.filter(({ task_id }) => task_id !== task.task_id), task];
    this.#sendOverview();
  }

  refuses(id: number, error: ActionError): void {
    this.send({ type: 'result', id, ok: false, error });
  }

  /** The connection is lost; `connects` brings it back. */
  leaves(): void {
    this.isAway = true;
    this.#socket?.terminate();
  }

  connects(): void {
    this.isAway = false;
    this.connection.reconnect();
  }

  #connected(socket: WebSocket): void {
    this.#socket = socket;
    socket.on('message', (data) => this.#received(clientMessageSchema.parse(socketJson(data))));
  }

  #welcome(): void {
    this.send({
      type: 'welcome',
      v: BOARD_PROTOCOL,
      caps: { terminal: true },
      board_id: 'board',
      client: 'vscode-1',
      version: '0',
      home: '/',
    });
  }

  #received(message: ClientMessage): void {
    this.got.push(message);
    if (message.type === 'hello') this.#welcome();
    if (message.type === 'dispatch' && this.answers) this.send({ type: 'result', id: message.id, ok: true });
    if (message.type === 'subscribe' && message.channel === 'board:/') this.#sendOverview();
  }

  #overviews = 0;

  #sendOverview(): void {
    const tasks = Object.fromEntries(this.cards.map((card) => [card.task_id, card]));
    this.send({
      type: 'snapshot',
      channel: 'board:/',
      seq: ++this.#overviews,
      state: { ...emptyBoard, tasks },
    });
  }
}
