// Pure.
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Event } from '../base/event.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import type { CallerCalls } from './caller-calls.js';
import { newStates, noticeOf, type CallerNotice } from './caller-notice.js';

/** How often is looked whether a notice can be sent. */
const LOOK_INTERVAL_MS = 1_500;
/** A model that follows its tasks calls again within this, and reads the state then. */
const QUIET_MS = 10_000;
/** One that calls again and again about something else does not postpone a notice for longer. */
const MAX_POSTPONED_MS = 90_000;
/** One wait for a change; the next follows. */
const WAIT_MS = 600_000;
/** The same where a task may start others: those are looked for between two waits. */
const WAIT_WITH_CHILDREN_MS = 10_000;

/** One way to the caller's model. */
export interface CallerRoute {
  /** Rejects with the reason, in words. */
  readonly send: (notice: CallerNotice) => Promise<void>;
}

export interface CallerNoticesOptions {
  readonly tasks: Pick<TaskService, 'wait'> & { readonly onDidStart: Event<TaskRecord> };
  /** The ids of the tasks that a task started; left out where no task may start any. */
  readonly childrenOf?: ((taskId: string) => Promise<readonly string[]>) | undefined;
  readonly calls: Pick<CallerCalls, 'quietMs' | 'seen'>;
  /** Undefined where there is no way to the model of the client. */
  readonly route: () => CallerRoute | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Tells the model of the client that a task which it started, or which such a task started, asks or has ended: once for each
 * state, and only what no answer of a call has shown it.
 */
export class CallerNotices implements Disposable {
  readonly #options: CallerNoticesOptions;
  readonly #owned = new DisposableStore();
  readonly #timers = new Set<Disposable>();
  readonly #stop = new AbortController();
  readonly #followed = new Set<string>();
  readonly #told = new Set<string>();
  readonly #newest = new Map<string, TaskRecord>();

  constructor(options: CallerNoticesOptions) {
    this.#options = options;
    this.#owned.add(toDisposable(() => this.#stop.abort()));
    this.#owned.add(options.tasks.onDidStart(({ task_id }) => this.#follow(task_id)));
  }

  dispose(): void {
    this.#owned.dispose();
    for (const timer of this.#timers) timer.dispose();
  }

  #follow(taskId: string): void {
    if (this.#followed.has(taskId) || this.#options.route() === undefined) return;
    this.#followed.add(taskId);
    this.#followToEnd(taskId).catch((error: unknown) =>
      this.#options.logger.warn('The caller will not be told of a task', {
        task_id: taskId,
        error: messageOf(error),
      }),
    );
  }

  async #followToEnd(taskId: string): Promise<void> {
    const { tasks, childrenOf } = this.#options;
    const { signal } = this.#stop;
    const timeoutMs = childrenOf === undefined ? WAIT_MS : WAIT_WITH_CHILDREN_MS;
    let cursor: string | undefined;
    while (!signal.aborted) {
      const waited = await tasks.wait({ taskIds: [taskId], timeoutMs, cursor, signal });
      cursor = waited.cursor;
      for (const child of (await childrenOf?.(taskId)) ?? []) this.#follow(child);
      const [record] = waited.tasks;
      if (record === undefined) continue;
      this.#newest.set(taskId, record);
      this.#look(record);
      if (isFinal(record.status)) return;
    }
  }

  #look(record: TaskRecord): void {
    const states = newStates(record, this.#told);
    if (states.length === 0 || this.#stop.signal.aborted) return;
    for (const state of states) this.#told.add(state);
    const { clock } = this.#options;
    this.#sendLater(record.task_id, states, clock.monotonicMs() + MAX_POSTPONED_MS);
  }

  #sendLater(taskId: string, states: readonly string[], untilMs: number): void {
    const { clock, calls } = this.#options;
    const timer = clock.after(LOOK_INTERVAL_MS, () => {
      this.#timers.delete(timer);
      if (calls.quietMs < QUIET_MS && clock.monotonicMs() < untilMs) this.#sendLater(taskId, states, untilMs);
      else this.#send(taskId, states);
    });
    this.#timers.add(timer);
  }

  /** Sends what is still so and was not seen meanwhile. */
  #send(taskId: string, states: readonly string[]): void {
    const { calls, route, logger } = this.#options;
    const record = this.#newest.get(taskId);
    if (record === undefined) return;
    const still = newStates(record, calls.seen).filter((state) => states.includes(state));
    if (still.length === 0) return;
    route()
      ?.send(noticeOf(record, still))
      .then(
        () => logger.debug('The caller was told of a task', { task_id: taskId }),
        (error: unknown) =>
          logger.warn(`The caller was not told of a task: ${messageOf(error)}`, { task_id: taskId }),
      );
  }
}
