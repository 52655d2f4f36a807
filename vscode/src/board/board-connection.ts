import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../../src/base/clock.js';
import { messageOf } from '../../../src/base/errors.js';
import { Emitter } from '../../../src/base/event.js';
import { toDisposable, type Disposable } from '../../../src/base/lifecycle.js';
import type { Logger } from '../../../src/base/logger.js';
import { socketJson } from '../../../src/base/socket-json.js';
import { FRAME_HEAD_BYTES } from '../../../src/board/frame-kinds.js';
import type { ActionAnswer, ActionError, ClientAction, ClientMessage } from '../../../src/board/protocol.js';
import { emptyBoard, reduceBoard, type BoardAction, type BoardState } from '../../../src/board/state.js';
import { deferred, type Deferred } from '../deferred.js';
import { closeWords } from './close-words.js';
import { isServerMessage } from './server-message.js';
import { followChannel, type ChannelListener, type Followed } from './followed.js';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** How often it looks whether a board runs by now. */
const LOOK_MS = 5_000;
const ANSWER_LIMIT_MS = 40_000;
const BOARD = 'board:/';

export type BoardStatus =
  /** No board runs, or this window is not to show its tasks. */
  | { readonly how: 'off' }
  | { readonly how: 'connecting' }
  | { readonly how: 'open' }
  /** It is tried again. */
  | { readonly how: 'lost'; readonly why: string };

export interface BoardConnectionOptions {
  /**
   * Opens a socket whose first message is the board's welcome; undefined for 'off'. `isWanted`: a person has asked for the board;
   * `mayStart`: just now.
   */
  readonly open: (isWanted: boolean, mayStart: boolean) => Promise<WebSocket | undefined>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The board refused what was asked for, or did not answer; its message says what to do. */
export class BoardRefusal extends Error {
  readonly code: string;

  constructor({ code, message, hint }: ActionError) {
    super(hint === '' ? message : `${message} ${hint}`);
    this.code = code;
  }
}

/** This window's own connection to the board: it is opened again when it is lost, and follows then what was followed before. */
export class BoardConnection implements Disposable {
  readonly #options: BoardConnectionOptions;
  readonly #changes = new Emitter<void>();
  readonly #followed = new Map<string, Followed>();
  readonly #waiting = new Map<number, Deferred<ActionAnswer>>();
  #status: BoardStatus = { how: 'connecting' };
  #board: BoardState = emptyBoard;
  #socket: WebSocket | undefined;
  #boardId = '';
  #client = '';
  #isWanted = false;
  #mayStart = false;
  #isDisposed = false;
  #isOpening = false;
  /** The settings have changed while it was being opened. */
  #isOutdated = false;
  #retryMs = FIRST_RETRY_MS;
  #retry: Disposable | undefined;
  #ids = 0;
  /** Its status or the overview has changed. */
  readonly onChange = this.#changes.event;

  constructor(options: BoardConnectionOptions) {
    this.#options = options;
    this.follow<BoardState, BoardAction>(BOARD, {
      reduce: reduceBoard,
      changed: (state) => {
        this.#board = state;
        this.#changes.fire();
      },
    });
  }

  start(): void {
    void this.#open();
  }

  get status(): BoardStatus {
    return this.#status;
  }

  /** All tasks and open decisions; empty until the first snapshot. */
  get board(): BoardState {
    return this.#board;
  }

  /** The name of this window as others see it. */
  get client(): string {
    return this.#client;
  }

  /** A person wants to see the board: it is started if none runs, now and not again. */
  want(): void {
    this.#isWanted = true;
    if (this.#status.how === 'open') return;
    this.#mayStart = true;
    this.#retryMs = FIRST_RETRY_MS;
    void this.#open();
  }

  /** Connects again, as after a change of the settings. */
  reconnect(): void {
    this.#retryMs = FIRST_RETRY_MS;
    if (this.#isOpening) this.#isOutdated = true;
    else if (this.#socket === undefined) void this.#open();
    else this.#socket.close();
  }

  /** Follows a channel until the result is disposed. A channel has one follower; a second one takes over. */
  follow<S, A>(channel: string, listener: ChannelListener<S, A>): Disposable {
    const followed = followChannel(channel, listener, (since) =>
      this.#send({ type: 'subscribe', channel, ...(since !== undefined && { since }) }),
    );
    this.#followed.set(channel, followed);
    if (this.#status.how === 'open') followed.subscribe(false);
    return toDisposable(() => {
      if (this.#followed.get(channel) !== followed) return;
      this.#followed.delete(channel);
      this.#send({ type: 'unsubscribe', channel });
    });
  }

  /** So many bytes of a terminal were shown since it was subscribed. */
  acknowledge(channel: string, bytes: number): void {
    this.#send({ type: 'term.ack', channel, bytes });
  }

  /** Does what a person asked for. Throws BoardRefusal. */
  async act(action: ClientAction): Promise<ActionAnswer> {
    if (this.#status.how !== 'open') throw new BoardRefusal(lostConnection);
    const id = ++this.#ids;
    const waiting = deferred<ActionAnswer>();
    this.#waiting.set(id, waiting);
    const limit = this.#options.clock.after(ANSWER_LIMIT_MS, () =>
      waiting.reject(new BoardRefusal(noAnswer)),
    );
    this.#send({ type: 'dispatch', id, action });
    try {
      return await waiting.promise;
    } finally {
      limit.dispose();
      this.#waiting.delete(id);
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#retry?.dispose();
    this.#socket?.terminate();
    this.#lost();
    this.#changes.dispose();
  }

  async #open(): Promise<void> {
    if (this.#isOpening || this.#isDisposed || this.#socket !== undefined) return;
    this.#isOpening = true;
    this.#retry?.dispose();
    const mayStart = this.#mayStart;
    this.#mayStart = false;
    try {
      const socket = await this.#options.open(this.#isWanted, mayStart);
      if (this.#isDisposed || this.#isOutdated) socket?.terminate();
      if (this.#isOutdated) this.#openAfter(0);
      else if (socket === undefined) {
        this.#become({ how: 'off' });
        this.#openAfter(this.#mayStart ? 0 : LOOK_MS);
      } else if (!this.#isDisposed) this.#use(socket);
    } catch (error) {
      this.#options.logger.warn('The board is not connected', { error });
      this.#become({ how: 'lost', why: messageOf(error) });
      this.#openLater();
    } finally {
      this.#isOpening = false;
      this.#isOutdated = false;
    }
  }

  #use(socket: WebSocket): void {
    this.#socket = socket;
    socket.on('message', (data, isBinary) => {
      try {
        this.#received(data, isBinary);
      } catch (error) {
        // Thrown into the socket it would end all that comes later, without a word.
        this.#options.logger.error('A message of the board could not be used', { error });
      }
    });
    // Its close follows.
    socket.on('error', (error) => this.#options.logger.warn('The connection to the board failed', { error }));
    socket.on('close', (code) => {
      this.#socket = undefined;
      if (this.#isDisposed) return;
      this.#lost();
      this.#become({ how: 'lost', why: closeWords(code) });
      this.#openLater();
    });
  }

  #openLater(): void {
    this.#openAfter(this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
  }

  #openAfter(delayMs: number): void {
    if (this.#isDisposed) return;
    this.#retry = this.#options.clock.after(delayMs, () => void this.#open());
  }

  #lost(): void {
    for (const waiting of this.#waiting.values()) waiting.reject(new BoardRefusal(lostConnection));
  }

  #become(status: BoardStatus): void {
    this.#status = status;
    this.#changes.fire();
  }

  #received(data: RawData, isBinary: boolean): void {
    if (isBinary) return this.#frame(bytesOf(data));
    const message = socketJson(data);
    if (!isServerMessage(message)) return;
    switch (message.type) {
      case 'welcome': {
        const isSame = message.board_id === this.#boardId;
        this.#boardId = message.board_id;
        this.#client = message.client;
        this.#retryMs = FIRST_RETRY_MS;
        this.#become({ how: 'open' });
        for (const followed of [...this.#followed.values()]) followed.subscribe(isSame);
        return;
      }
      case 'result':
        if (message.ok) this.#waiting.get(message.id)?.resolve(message);
        else this.#waiting.get(message.id)?.reject(new BoardRefusal(message.error));
        return;
      case 'refused':
        if (message.channel !== undefined)
          this.#followed.get(message.channel)?.refused(new BoardRefusal(message.error));
        else this.#options.logger.warn('The board did not understand a message', { error: message.error });
        return;
      default:
        this.#followed.get(message.channel)?.take(message);
    }
  }

  #frame(frame: Buffer): void {
    if (frame.length < FRAME_HEAD_BYTES) return;
    const stream = frame.readUInt32BE(1);
    for (const followed of this.#followed.values())
      followed.takeFrame(stream, frame.readUInt8(0), frame.subarray(FRAME_HEAD_BYTES));
  }

  #send(message: ClientMessage): void {
    if (this.#socket?.readyState === this.#socket?.OPEN) this.#socket?.send(JSON.stringify(message));
  }
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

const lostConnection: ActionError = {
  code: 'TASK_UNREACHABLE',
  message: 'The board is not connected.',
  hint: 'The window connects again; then try once more.',
};

const noAnswer: ActionError = {
  code: 'TASK_UNREACHABLE',
  message: 'The board did not answer.',
  hint: 'Look at the task to see what became of it.',
};
