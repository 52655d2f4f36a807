// Pure.
import type { Clock } from '../../../../src/base/clock.js';
import { messageOf } from '../../../../src/base/errors.js';
import { Emitter } from '../../../../src/base/event.js';
import { DisposableStore, type Disposable } from '../../../../src/base/lifecycle.js';
import type { Logger } from '../../../../src/base/logger.js';
import { frameKinds } from '../../../../src/board/frame-kinds.js';
import type { TerminalAction, TerminalState } from '../../../../src/board/protocol.js';
import type { TaskCard } from '../../../../src/board/state.js';
import type { BoardConnection } from '../../board/board-connection.js';
import type { TerminalSize } from '../../editor.js';
import { OverrideSize } from './override-size.js';
import { PacedOutput } from './paced-output.js';
import { claimQuestion, closedWords, endWords, modeOf, noteLine, titleOf } from './terminal-words.js';
import type { TerminalMode } from './terminal-words.js';
import { TypedKeys } from './typed-keys.js';

/** Changes of the size within this time are one. */
const SIZE_QUIET_MS = 150;
/** The editor sets the first title once more when it has opened a terminal, and reports that to no extension. */
const TITLE_AGAIN_MS = 1_000;
/** A message that is not answered leaves the screen: it is shown again for what is typed later. */
const ANSWER_AGAIN_MS = 3_000;
/** What the board allows. */
const MAX_SIZE: TerminalSize = { columns: 500, rows: 300 };
const MIN_SIZE: TerminalSize = { columns: 2, rows: 1 };

/** Of a channel that cannot be opened. */
const noTerminal: TerminalState = {
  stream: 0,
  columns: 80,
  rows: 24,
  is_part: false,
  writer: null,
  closed: null,
};

export interface TaskTerminalOptions {
  readonly taskId: string;
  readonly board: Pick<
    BoardConnection,
    'status' | 'board' | 'client' | 'onChange' | 'follow' | 'acknowledge' | 'act'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Asks the person whether to type here. */
  readonly askToType: (question: string) => Promise<boolean>;
  readonly say: (words: string) => void;
}

/** The live terminal of a task in the editor: it only watches until the person claims it. */
export class TaskTerminal implements Disposable {
  readonly #options: TaskTerminalOptions;
  readonly #owned = new DisposableStore();
  readonly #written = this.#owned.add(new Emitter<string>());
  readonly onDidWrite = this.#written.event;
  readonly #sizes = this.#owned.add(new Emitter<TerminalSize>());
  readonly onDidOverrideSize = this.#sizes.event;
  readonly #titles = this.#owned.add(new Emitter<string>());
  readonly onDidChangeTitle = this.#titles.event;
  readonly #size = new OverrideSize((size) => this.#sizes.fire(size));
  readonly #keys = new TypedKeys((keys) => this.#send(keys));
  readonly #output: PacedOutput;
  readonly #channel: string;
  #following: Disposable | undefined;
  #sizeSoon: Disposable | undefined;
  #state: TerminalState | undefined;
  #title: string;
  #isConnected: boolean;
  #isShown = false;
  /** When keys that go nowhere were last answered by a message. */
  #answeredMs = Number.NEGATIVE_INFINITY;
  /** The status of the task when its terminal was last closed. */
  #closedIn: string | undefined;
  #saidWhy = '';

  constructor(options: TaskTerminalOptions) {
    const { taskId, board, clock } = options;
    this.#options = options;
    this.#channel = `term:/${taskId}`;
    this.#isConnected = board.status.how === 'open';
    this.#title = titleOf(taskId, this.#card, this.#mode);
    this.#output = this.#owned.add(
      new PacedOutput({
        clock,
        write: (text) => this.#written.fire(text),
        written: (bytes) => board.acknowledge(this.#channel, bytes),
      }),
    );
  }

  get title(): string {
    return this.#title;
  }

  open(size: TerminalSize | undefined): void {
    if (size !== undefined) this.#size.reported(size);
    this.#owned.add(this.#options.board.onChange(() => this.#boardChanged()));
    if (!this.#isConnected) this.#note('Connecting to the board…');
    this.#follow();
    this.#entitle();
    this.#owned.add(this.#options.clock.after(TITLE_AGAIN_MS, () => this.#titles.fire(this.#title)));
  }

  /** The person closed it: it holds the session no longer, and the task goes on. */
  close(): void {
    this.#following?.dispose();
    this.dispose();
  }

  /** The window ends, perhaps to be loaded again: the board is left to notice, and the session stays open meanwhile. */
  dispose(): void {
    this.#sizeSoon?.dispose();
    this.#keys.drop();
    this.#owned.dispose();
  }

  /** The person types. */
  handleInput(text: string): void {
    const mode = this.#mode;
    if (mode.how === 'writing') {
      this.#keys.type(text);
      return;
    }
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#answeredMs < ANSWER_AGAIN_MS) return;
    this.#answeredMs = nowMs;
    if (mode.how === 'watching') void this.#claim(mode.writer);
    else if (mode.how === 'closed') this.#options.say(this.#saidWhy);
    else this.#options.say('The terminal is not connected to the board: what you type goes nowhere.');
  }

  setSize(size: TerminalSize): void {
    if (!this.#size.reported(size)) return;
    this.#sizeSoon?.dispose();
    this.#sizeSoon = this.#options.clock.after(SIZE_QUIET_MS, () => void this.#sendSize());
  }

  get #card(): TaskCard | undefined {
    return this.#options.board.board.tasks[this.#options.taskId];
  }

  get #mode(): TerminalMode {
    return modeOf(this.#isConnected, this.#state, this.#options.board.client);
  }

  #follow(): void {
    this.#following?.dispose();
    this.#following = this.#options.board.follow<TerminalState, TerminalAction>(this.#channel, {
      reduce: (before, { type: _type, ...change }) => ({ ...before, ...change }),
      changed: (state) => this.#changed(state),
      refused: ({ message }) => this.#changed({ ...noTerminal, closed: message }),
      frames: { streamOf: ({ stream }) => stream, take: (kind, bytes) => this.#frame(kind, bytes) },
    });
  }

  #changed(state: TerminalState): void {
    const before = this.#state;
    const wasWriting = this.#mode.how === 'writing';
    this.#state = state;
    if (before?.stream !== state.stream) {
      this.#begin();
      void this.#sendSize();
    }
    if (wasWriting && this.#mode.how !== 'writing') this.#lostKeyboard(state.writer);
    this.#fit();
    if (state.closed !== null && before?.closed !== state.closed) this.#closed(state.closed);
    this.#entitle();
  }

  #begin(): void {
    this.#isShown = false;
    this.#output.begin();
  }

  #frame(kind: number, bytes: Buffer): void {
    this.#isShown = true;
    // Before what it says is drawn.
    if (kind !== frameKinds.output) this.#fit();
    this.#output.take(kind, bytes);
  }

  /** While it only watches, it has the size of the session. */
  #fit(): void {
    if (!this.#isShown || this.#state === undefined) return;
    const { how } = this.#mode;
    if (how === 'watching') this.#size.set(this.#state.is_part ? undefined : this.#state);
    else if (how === 'writing') this.#size.set(undefined);
  }

  #lostKeyboard(writer: string | null): void {
    this.#keys.drop();
    if (writer !== null)
      this.#options.say(`${writer} types into "${this.#title}" now; here it only watches again.`);
  }

  async #claim(writer: string | null): Promise<void> {
    const { askToType, board, taskId, say } = this.#options;
    try {
      if (!(await askToType(claimQuestion(writer))) || this.#mode.how !== 'watching') return;
      const size = allowed(this.#size.room ?? this.#state ?? MIN_SIZE);
      await board.act({ type: 'term.claim', task_id: taskId, ...size });
    } catch (error) {
      say(messageOf(error));
    }
  }

  /** The session has the size of who writes; who watches gets as much as there is room for. */
  async #sendSize(): Promise<void> {
    const { board, taskId, logger } = this.#options;
    const { room } = this.#size;
    const { how } = this.#mode;
    if (room === undefined || (how !== 'watching' && how !== 'writing')) return;
    const type = how === 'writing' ? 'term.resize' : 'term.view';
    try {
      await board.act({ type, task_id: taskId, ...allowed(room) });
      this.#fit();
    } catch (error) {
      logger.warn('The size of a terminal was not taken', { taskId, error: messageOf(error) });
    }
  }

  async #send(keys: Buffer): Promise<void> {
    const { board, taskId, say } = this.#options;
    try {
      await board.act({ type: 'term.input', task_id: taskId, keys: keys.toString('base64') });
    } catch (error) {
      this.#keys.drop();
      say(messageOf(error));
    }
  }

  #boardChanged(): void {
    const isConnected = this.#options.board.status.how === 'open';
    if (isConnected !== this.#isConnected) {
      this.#isConnected = isConnected;
      if (!isConnected) this.#lost();
    }
    const card = this.#card;
    if (this.#mode.how === 'closed' && card !== undefined) {
      if (card.is_final) this.#ended(card);
      // It may have started meanwhile.
      else if (isConnected && this.#closedIn !== card.status) this.#openAgain(card);
    }
    this.#entitle();
  }

  /** What was on the screen stays until the board sends it again. */
  #lost(): void {
    this.#keys.drop();
    this.#begin();
    if (this.#mode.how === 'closed') return;
    this.#state = undefined;
    this.#note('The board is not connected. The screen is shown again when it is.');
  }

  #openAgain(card: TaskCard): void {
    this.#closedIn = card.status;
    this.#saidWhy = '';
    this.#follow();
  }

  #closed(why: string): void {
    const card = this.#card;
    this.#closedIn = card?.status;
    this.#keys.drop();
    this.#explain(closedWords(why, card));
    if (card?.is_final === true) this.#ended(card);
  }

  /** Nothing more comes. */
  #ended(card: TaskCard): void {
    this.#following?.dispose();
    if (!this.#saidWhy.includes(card.reason)) this.#explain(endWords(card));
  }

  #explain(why: string): void {
    if (why === this.#saidWhy) return;
    this.#saidWhy = why;
    this.#note(why);
  }

  #note(text: string): void {
    this.#output.flush(noteLine(text));
  }

  #entitle(): void {
    const title = titleOf(this.#options.taskId, this.#card, this.#mode);
    if (title === this.#title) return;
    this.#title = title;
    this.#titles.fire(title);
  }
}

function allowed({ columns, rows }: TerminalSize): TerminalSize {
  const within = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));
  return {
    columns: within(columns, MIN_SIZE.columns, MAX_SIZE.columns),
    rows: within(rows, MIN_SIZE.rows, MAX_SIZE.rows),
  };
}
