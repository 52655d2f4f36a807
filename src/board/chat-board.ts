import { createHash } from 'node:crypto';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { sleep, type Clock } from '../base/clock.js';
import { toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { MachineTasks } from '../machines/machine-tasks.js';
import { onlyDeny } from '../tasks/decisions/described.js';
import type { TaskService } from '../tasks/task-service.js';
import { actionErrorOf, answerDecision } from './act.js';
import { openBoardFeed } from './board-feed.js';
import { nameThere } from './far-acts.js';
import { Channels } from './channel.js';
import { valuesAfter } from './client.js';
import { decisionAnswer, type Outcome, type ValuesMessage } from './protocol.js';
import { boardOf, type DecisionView, type TaskCard, type Values } from './state.js';
import { cutInput } from './task-views.js';

/** Of the values of one answer: it is the answer of a tool, which holds at most 1 MB. */
const MAX_BYTES = 400_000;
/** Of a request that is asked; more of it is on the board in a browser. */
const MAX_INPUT_BYTES = 64 * 1024;
/** Between two reads the tasks are still followed. */
const LINGER_MS = 30_000;

export interface ChatBoardOptions {
  readonly tasks: TaskService;
  /** The same as `tasks`; left out where no machine is set. */
  readonly far?: MachineTasks | undefined;
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

/** Values of `board:/`. */
export interface ChatAnswer extends Pick<ValuesMessage, 'whole' | 'set' | 'del'> {
  readonly answer: string;
  readonly version: string;
  readonly home: string;
}

/** The overview for a page in a chat, which cannot hold a connection: each read waits until there is news. */
export class ChatBoard implements Disposable {
  readonly #options: ChatBoardOptions;
  readonly #channels: Channels;
  readonly #left = new AbortController();
  #kept: Disposable | undefined;

  constructor(options: ChatBoardOptions) {
    this.#options = options;
    this.#channels = new Channels((_name, put) => openBoardFeed(options, put));
  }

  /** All values where they are not those of the answer before, or none when nothing happened in time or the reader has gone. */
  async read({ after, tasks, wait_ms }: ChatQuery, signal: AbortSignal): Promise<ChatAnswer> {
    const { version, homeDir: home, clock } = this.#options;
    const news = new AbortController();
    let board: Values = new Map();
    let shown: Values = board;
    let answer = '';
    const following = await this.#channels.follow('board:/', (message) => {
      board = valuesAfter(board, message);
      shown = shownIn(board, tasks);
      answer = createHash('sha256')
        .update(JSON.stringify([...shown]))
        .digest('base64url');
      if (answer !== after) news.abort();
    });
    if (wait_ms > 0) await sleep(clock, wait_ms, AbortSignal.any([signal, this.#left.signal, news.signal]));
    this.#keep(following);
    const whole = answer !== after;
    return { answer, version, home, whole, set: whole ? Object.fromEntries(shown) : {}, del: [] };
  }

  /** Answers a decision for a person at a chat, whose name stands in the journal. Never rejects. */
  async act({ client, action }: { readonly client: string; readonly action: unknown }): Promise<Outcome> {
    const { tasks, far, logger } = this.#options;
    try {
      const answer = decisionAnswer.safeParse(action);
      if (!answer.success) {
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          `A page in a chat answers decisions and does nothing else: ${z.prettifyError(answer.error)}.`,
          'Open the board in a browser.',
        );
      }
      const isFar = far?.placeOf(answer.data.task_id) !== undefined;
      await answerDecision(answer.data, isFar ? nameThere() : `board/${client}`, tasks);
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
}

/** What fits into an answer, or of some tasks alone: what is asked first, then tasks that have not ended, then the newest. */
function shownIn(board: Values, only: readonly string[] | undefined): Values {
  const { tasks, decisions, unreadable, machines } = boardOf(board);
  const ordered: readonly (readonly [taskId: string, key: string, value: unknown])[] = [
    ...Object.entries(decisions).map(([id, one]) => [one.task_id, `decision/${id}`, shortened(one)] as const),
    ...Object.entries(unreadable).map(([id, why]) => [id, `unreadable/${id}`, why] as const),
    ...Object.values(tasks)
      .sort(firstOfTasks)
      .map((task) => [task.task_id, `task/${task.task_id}`, task] as const),
  ];
  const shown = ordered.filter(([taskId]) => only?.includes(taskId) ?? true);
  let bytes = 0;
  const end = shown.findIndex(
    ([, , value]) => (bytes += Buffer.byteLength(JSON.stringify(value))) > MAX_BYTES,
  );
  const kept = (end === -1 ? shown : shown.slice(0, end)).map(([, key, value]) => [key, value] as const);
  return new Map([
    ...Object.entries(machines).map(([name, one]) => [`machine/${name}`, one] as const),
    ...kept,
  ]);
}

function firstOfTasks(a: TaskCard, b: TaskCard): number {
  return Number(a.is_final) - Number(b.is_final) || b.created_at.localeCompare(a.created_at);
}

/** An answer names the whole request by its hash, also where only the beginning is shown. */
function shortened(decision: DecisionView): DecisionView {
  if (Buffer.byteLength(JSON.stringify(decision.input)) <= MAX_INPUT_BYTES) return decision;
  return { ...decision, input: cutInput(decision.input, MAX_INPUT_BYTES), input_is_cut: true, ...onlyDeny };
}
