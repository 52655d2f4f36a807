// Pure: what a notice says of a task.
import { oneLine } from '../../base/text/text.js';
import { basename } from 'node:path';
import { isFinal, openDecisions, type Decision, type TaskRecord } from '../../tasks/task.js';

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
