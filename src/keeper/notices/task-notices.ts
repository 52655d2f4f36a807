// Pure: what a notice says of a task.
import { basename } from 'node:path';
import { type Clock, withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { type Event, type Disposable, DisposableStore } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { oneLine } from '../../base/text.js';
import { type Decision, isFinal, openDecisions, type TaskRecord } from '../../tasks/task.js';

/** A desktop shows some two lines. */
const MAX_SHOWN_CHARS = 160;

export interface Notice {
  readonly kind: 'decision' | 'end';
  /** Stays the same when it is sent again. */
  readonly id: string;
  readonly title: string;
  /** For the person's own desktop: it may quote the request. */
  readonly words: string;
  /** For a webhook: nothing that a prompt, a command, an output or an answer says. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** An answer that changed nothing, since the decision was closed before: the form that sent it cannot show an error. */
export function lateNotice(record: TaskRecord, { decision_id, kind, tool, summary }: Decision): Notice {
  return {
    kind: 'decision',
    id: `${record.task_id}-${decision_id}-late`,
    title: `An answer came too late in ${projectOf(record)}`,
    words: oneLine(`It changed nothing: ${summary}`, MAX_SHOWN_CHARS),
    facts: { ...factsOf(record), decision_id, kind, tool, too_late: true },
  };
}

/** A decision that waits for an answer. */
export function decisionNotice(record: TaskRecord, decision: Decision): Notice {
  const { decision_id, kind, tool, summary, asked_at, expires_at } = decision;
  return {
    kind: 'decision',
    id: `${record.task_id}-${decision_id}`,
    title: `Claude Code asks in ${projectOf(record)}`,
    words: oneLine(summary, MAX_SHOWN_CHARS),
    facts: { ...factsOf(record), decision_id, kind, tool, asked_at, expires_at },
  };
}

/** The end of a task. */
export function endNotice(record: TaskRecord): Notice {
  const { status, exit_code, started_at, ended_at, elapsed_seconds } = record;
  return {
    kind: 'end',
    id: `${record.task_id}-end`,
    title: `Task ${status} in ${projectOf(record)}`,
    words: oneLine(record.prompt_summary, MAX_SHOWN_CHARS),
    facts: { ...factsOf(record), exit_code, started_at, ended_at, elapsed_seconds },
  };
}

/** What is new in a record for those who were told of `told`; the ids of notices. */
export function noticesOf(record: TaskRecord, told: ReadonlySet<string>): Notice[] {
  const all = isFinal(record.status)
    ? [endNotice(record)]
    : openDecisions(record).map((decision) => decisionNotice(record, decision));
  return all.filter(({ id }) => !told.has(id));
}

function factsOf(record: TaskRecord): Readonly<Record<string, unknown>> {
  return { task_id: record.task_id, project: projectOf(record), status: record.status };
}

/** The name of the folder. */
function projectOf({ worktree, project_path }: TaskRecord): string {
  return basename(worktree?.project_path ?? project_path);
}

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
