// Pure: what a notice says of a task, and when it is sent.
import { basename } from 'node:path';
import { type Clock, withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { type Event, type Disposable, DisposableStore } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { oneLine } from '../../base/text.js';
import { metWords } from '../../checks/result.js';
import { type Decision, isFinal, openDecisions, type TaskRecord } from '../../tasks/task.js';

/** A desktop shows some two lines. */
const MAX_SHOWN_CHARS = 160;
/** The keeper of a task that has ended stays at most this long for its notices: three tries and the waits between them. */
const FINISH_LIMIT_MS = 25_000;

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

/** `about`: a decision that waits for an answer, one that an answer came too late for, or the end of the task. */
function noticeOf(record: TaskRecord, about: 'end' | { decision: Decision; isLate: boolean }): Notice {
  const { task_id, status, worktree, project_path } = record;
  // The name of the folder.
  const project = basename(worktree?.project_path ?? project_path);
  const shared = { task_id, project, status };
  if (about === 'end') {
    const { exit_code, started_at, ended_at, elapsed_seconds, checked } = record;
    const checks = metWords(checked);
    const words = oneLine(record.prompt_summary, MAX_SHOWN_CHARS);
    return {
      kind: 'end',
      id: `${task_id}-end`,
      title: `Task ${status} in ${project}`,
      words: checks === '' ? words : `${checks}. ${words}`,
      facts: {
        ...{ ...shared, exit_code, started_at, ended_at, elapsed_seconds },
        ...(checks !== '' && { checks }),
      },
    };
  }
  const { decision_id, kind, tool, summary, asked_at, expires_at } = about.decision;
  return {
    kind: 'decision',
    id: `${task_id}-${decision_id}${about.isLate ? '-late' : ''}`,
    title: about.isLate ? `An answer came too late in ${project}` : `Claude Code asks in ${project}`,
    words: oneLine(about.isLate ? `It changed nothing: ${summary}` : summary, MAX_SHOWN_CHARS),
    facts: {
      ...shared,
      ...{ decision_id, kind, tool },
      ...(about.isLate ? { too_late: true } : { asked_at, expires_at }),
    },
  };
}

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
  /** The ids of notices. */
  readonly #told = new Set<string>();
  readonly #sending: Promise<void>[] = [];
  readonly #abort = new AbortController();

  constructor(options: TaskNoticesOptions) {
    this.#options = options;
    this.#owned.add(options.task.onDidChange((record) => this.#look(record)));
  }

  /** Sends the end, or that an answer to `late` changed nothing; resolves when all is sent or the time for it is over. */
  async finish(late?: Decision): Promise<void> {
    const { task, clock } = this.#options;
    // The form that sent the late answer cannot show an error.
    if (late === undefined) this.#look(task.record);
    else this.#tell(noticeOf(task.record, { decision: late, isLate: true }));
    await withinMs(clock, FINISH_LIMIT_MS, Promise.all(this.#sending));
  }

  dispose(): void {
    this.#owned.dispose();
    this.#abort.abort();
  }

  #look(record: TaskRecord): void {
    if (isFinal(record.status)) this.#tell(noticeOf(record, 'end'));
    else
      for (const decision of openDecisions(record)) this.#tell(noticeOf(record, { decision, isLate: false }));
  }

  #tell(notice: Notice): void {
    const { kinds, routes, logger } = this.#options;
    if (this.#told.has(notice.id)) return;
    this.#told.add(notice.id);
    if (!kinds.includes(notice.kind)) return;
    for (const { name, send } of routes) {
      const sent = send(notice, this.#abort.signal).catch((error: unknown) => {
        const words = `The ${name} did not take a notice: ${messageOf(error)}`;
        logger.warn(words, { notice: notice.kind });
      });
      this.#sending.push(sent);
    }
  }
}
