import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import type { Clock } from '../base/clock.js';
import { toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { TaskService } from '../tasks/task-service.js';
import { answerDecision } from './act.js';
import { actionErrorOf } from './action-error.js';
import { openBoardFeed } from './board-feed.js';
import { changes } from './channel.js';
import { Channels } from './channels.js';
import { decisionAnswer, type Outcome } from './protocol.js';
import { boardOf, type DecisionView, type TaskCard, type Values } from './state.js';
import { cutInput } from './task-views.js';

/** Of the values of one answer: it is the answer of a tool, which holds at most 1 MB. */
const MAX_BYTES = 400_000;
/** Of a request that is asked; more of it is on the board in a browser. */
const MAX_INPUT_BYTES = 64 * 1024;
/** Answers of which it is known what they told; more than the pages that a chat shows at once. */
const MAX_ANSWERS = 32;
/** Between two reads the tasks are still followed. */
const LINGER_MS = 30_000;

export interface ChatBoardOptions {
  readonly tasks: TaskService;
  readonly tasksDir: string;
  readonly version: string;
  readonly homeDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ChatQuery {
  /** The name of the answer before. */
  readonly after?: string | undefined;
  /** Only these tasks, and what they ask. */
  readonly tasks?: readonly string[] | undefined;
  /** How long news is waited for. */
  readonly wait_ms: number;
}

/** Values of `board:/`: see ValuesMessage. */
export interface ChatAnswer {
  readonly answer: string;
  readonly version: string;
  readonly home: string;
  readonly whole: boolean;
  readonly set: Readonly<Record<string, unknown>>;
  readonly del: readonly string[];
}

/** The overview for a page in a chat, which cannot hold a connection: each read waits until there is news. */
export class ChatBoard implements Disposable {
  readonly #options: ChatBoardOptions;
  readonly #channels: Channels;
  /** What the page has after each answer. */
  readonly #answers = new Map<string, Values>();
  readonly #left = new AbortController();
  #kept: Disposable | undefined;

  constructor(options: ChatBoardOptions) {
    this.#options = options;
    this.#channels = new Channels(() => openBoardFeed(options));
  }

  /** The changes since an answer, all values for an unknown one, or none when nothing happened in time or the reader has gone. */
  async read(query: ChatQuery, signal: AbortSignal): Promise<ChatAnswer> {
    const { version, homeDir: home, clock } = this.#options;
    const before = query.after === undefined ? undefined : this.#answers.get(query.after);
    let now = before ?? new Map<string, unknown>();
    const wait = waitFor(clock, query.wait_ms, [signal, this.#left.signal]);
    const board = new Map<string, unknown>();
    const follow = this.#channels.follow('board:/', ({ set, del }) => {
      for (const [key, value] of Object.entries(set)) board.set(key, value);
      for (const key of del) board.delete(key);
      now = shownIn(board, query.tasks);
      if (before === undefined || isNews(before, now)) wait.end();
    });
    follow.catch(() => wait.end());
    const following = await follow;
    await wait.over;
    this.#keep(following);
    const news = changes(before ?? new Map(), now);
    return { answer: this.#remember(now), version, home, whole: before === undefined, ...news };
  }

  /** Answers a decision for a person at a chat, whose name stands in the journal. Never rejects. */
  async act({ client, action }: { readonly client: string; readonly action: unknown }): Promise<Outcome> {
    const { tasks, logger } = this.#options;
    try {
      const answer = decisionAnswer.safeParse(action);
      if (!answer.success) {
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          `A page in a chat answers decisions and does nothing else: ${z.prettifyError(answer.error)}.`,
          'Open the board in a browser.',
        );
      }
      await answerDecision(answer.data, `board/${client}`, tasks);
      return { ok: true };
    } catch (error) {
      return { ok: false, error: actionErrorOf(error, logger) };
    }
  }

  /** The server ends. */
  dispose(): void {
    this.#left.abort();
    this.#kept?.dispose();
  }

  #keep(following: Disposable): void {
    if (this.#left.signal.aborted) return following.dispose();
    const { clock } = this.#options;
    const timer = clock.after(LINGER_MS, () => following.dispose());
    this.#kept?.dispose();
    this.#kept = toDisposable(() => {
      timer.dispose();
      following.dispose();
    });
  }

  #remember(values: Values): string {
    const name = randomUUID();
    this.#answers.set(name, values);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
    return name;
  }
}

/** What fits into an answer, or of some tasks alone: what is asked first, then tasks that have not ended, then the newest. */
function shownIn(board: Values, only: readonly string[] | undefined): Values {
  const { tasks, decisions, unreadable, last_closed } = boardOf(board);
  const isShown = (taskId: string): boolean => only?.includes(taskId) ?? true;
  const ordered: readonly (readonly [string, unknown])[] = [
    ...Object.entries(decisions)
      .filter(([, { task_id }]) => isShown(task_id))
      .map(([id, decision]) => [`decision/${id}`, shortened(decision)] as const),
    ...(only === undefined ? [['last_closed', last_closed] as const] : []),
    ...Object.entries(unreadable)
      .filter(([id]) => isShown(id))
      .map(([id, why]) => [`unreadable/${id}`, why] as const),
    ...Object.values(tasks)
      .filter(({ task_id }) => isShown(task_id))
      .sort(firstOfTasks)
      .map((task) => [`task/${task.task_id}`, task] as const),
  ];
  let bytes = 0;
  const end = ordered.findIndex(
    ([, value]) => (bytes += Buffer.byteLength(JSON.stringify(value))) > MAX_BYTES,
  );
  return new Map(end === -1 ? ordered : ordered.slice(0, end));
}

function firstOfTasks(a: TaskCard, b: TaskCard): number {
  return Number(a.is_final) - Number(b.is_final) || b.created_at.localeCompare(a.created_at);
}

/** An answer names the whole request by its hash, also where only the beginning is shown. */
function shortened(decision: DecisionView): DecisionView {
  if (Buffer.byteLength(JSON.stringify(decision.input)) <= MAX_INPUT_BYTES) return decision;
  return { ...decision, input: cutInput(decision.input, MAX_INPUT_BYTES), input_is_cut: true };
}

function isNews(before: Values, now: Values): boolean {
  const { set, del } = changes(before, now);
  return Object.keys(set).length + del.length > 0;
}

/** Until the time is over, one of the signals aborts, or it is ended. */
function waitFor(
  clock: Clock,
  waitMs: number,
  signals: readonly AbortSignal[],
): { readonly over: Promise<void>; end(): void } {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    const timer = clock.after(waitMs, () => end());
    end = () => {
      timer.dispose();
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    for (const signal of signals) signal.addEventListener('abort', end);
    if (waitMs === 0 || signals.some(({ aborted }) => aborted)) end();
  });
  return { over, end };
}
