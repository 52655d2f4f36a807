// Pure.
import { withinMs, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Event } from '../../base/event.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { Decision, TaskRecord } from '../../tasks/task.js';
import { lateNotice, noticesOf, type Notice } from './notice.js';

/** The keeper of a task that has ended stays at most this long for its notices: three tries and the waits between them. */
const FINISH_LIMIT_MS = 25_000;

/** One way to send notices. Rejects with the reason, in words. */
export interface NoticeRoute {
  /** As in "The webhook did not take a notice". */
  readonly name: string;
  readonly send: (notice: Notice, signal: AbortSignal) => Promise<void>;
}

export interface TaskNoticesOptions {
  readonly task: { readonly record: TaskRecord; readonly onDidChange: Event<TaskRecord> };
  readonly kinds: readonly Notice['kind'][];
  readonly routes: readonly NoticeRoute[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tells a person who looks at no page that a task asks, and that it has ended: each once, by each route. */
export class TaskNotices implements Disposable {
  readonly #options: TaskNoticesOptions;
  readonly #owned = new DisposableStore();
  readonly #told = new Set<string>();
  readonly #sending = new Set<Promise<void>>();
  readonly #abort = new AbortController();

  constructor(options: TaskNoticesOptions) {
    this.#options = options;
    this.#owned.add(options.task.onDidChange((record) => this.#look(record)));
  }

  /** Sends the end, or that an answer to `late` changed nothing; resolves when all is sent or the time for it is over. */
  async finish(late?: Decision): Promise<void> {
    const { record } = this.#options.task;
    if (late === undefined) this.#look(record);
    else this.#tell(lateNotice(record, late));
    await withinMs(this.#options.clock, FINISH_LIMIT_MS, Promise.all(this.#sending));
  }

  dispose(): void {
    this.#owned.dispose();
    this.#abort.abort();
  }

  #look(record: TaskRecord): void {
    for (const notice of noticesOf(record, this.#told)) this.#tell(notice);
  }

  #tell(notice: Notice): void {
    const { kinds, routes } = this.#options;
    this.#told.add(notice.id);
    if (kinds.includes(notice.kind)) for (const route of routes) this.#send(route, notice);
  }

  #send(route: NoticeRoute, notice: Notice): void {
    const sending = route.send(notice, this.#abort.signal).catch((error: unknown) => {
      this.#options.logger.warn(`The ${route.name} did not take a notice: ${messageOf(error)}`, {
        notice: notice.kind,
      });
    });
    this.#sending.add(sending);
    void sending.then(() => this.#sending.delete(sending));
  }
}
