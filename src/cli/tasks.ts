import { existsSync } from 'node:fs';
import { systemClock } from '../base/system-clock.js';
import { oneLine } from '../base/text/text.js';
import { finishWords, type FinishAction } from '../tasks/worktree-maker.js';
import { treeOf } from '../tasks/receipt/receipt.js';
import { changedFiles } from './receipt-text.js';
import { isNativeOn } from '../native/native-switch.js';
import { withoutPlugin } from '../tasks/native-session.js';
import { isOtherSession, NO_LOG } from '../tasks/other-sessions.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import { followLog } from './attach/follow-log.js';
import { answerOf, type GivenAnswer } from './decision-answer.js';
import { exitCodeOfEnd, exitCodes, type ExitCode } from './exit-codes.js';
import { openDecision } from './open-decision.js';
import { openTasks, type OpenTasks, type TaskCommandOptions } from './open-tasks.js';
import { requireOutsideSession } from '../tasks/own-session.js';
import { requireOutsideTasks } from './require-outside-tasks.js';
import { printTaskDiff } from './task-diff.js';
import { taskTable } from './tasks-table.js';
import { taskDetails } from './tasks-text.js';

/** Every task that a state directory can hold. */
const MAX_TASKS = 10_000;
const MAX_WHY_CHARS = 500;
const NO_SESSIONS = 'No sessions in the allowed folders.\n';
const KILLED_BY_PERSON = 'Killed by claude-code-bridge tasks kill.';

export interface TasksOptions extends TaskCommandOptions {
  /** For machines: one JSON value on stdout. */
  readonly json: boolean;
  /** To stdout; resolves when it takes more. */
  readonly write: (data: string | Uint8Array) => Promise<void>;
  /** Aborted when stdout takes no more: nobody reads it. */
  readonly lost: AbortSignal;
  /** A line on stderr. */
  readonly say: (line: string) => void;
  /** Of the terminal on stdout; undefined when there is none. */
  readonly columns: number | undefined;
}

export type TasksRequest =
  | { readonly what: 'list' }
  | { readonly what: 'show' | 'log' | 'follow' | 'diff'; readonly task: string | undefined }
  | { readonly what: 'kill'; readonly task: string; readonly reason?: string | undefined }
  | {
      readonly what: 'finish';
      readonly task: string;
      readonly action: FinishAction;
      readonly reviewed?: string | undefined;
    }
  | { readonly what: 'prune'; readonly keep?: number | undefined }
  | { readonly what: 'rm'; readonly task: string; readonly force: boolean }
  | ({
      readonly what: 'answer';
      readonly task: string;
      readonly decision?: string | undefined;
    } & GivenAnswer);

/** What a command does, for `requireOutsideTasks`; the others only read. */
const acts: Partial<Record<TasksRequest['what'], string>> = {
  answer: 'answer questions of tasks',
  finish: 'finish tasks',
  kill: 'end or remove tasks',
  prune: 'end or remove tasks',
  rm: 'end or remove tasks',
};

/** `claude-code-bridge tasks …`: works with and without a running server. Resolves with the exit code. */
export async function runTasks(request: TasksRequest, options: TasksOptions): Promise<ExitCode> {
  const act = acts[request.what];
  if (act !== undefined) await requireOutsideTasks(options.env, act);
  const opened = await openTasks(options);
  try {
    return await run(request, opened, options);
  } finally {
    opened.dispose();
  }
}

async function run(request: TasksRequest, opened: OpenTasks, options: TasksOptions): Promise<ExitCode> {
  const { tasks, finisher } = opened;
  const { json, write, say, columns, lost } = options;
  const print = (value: unknown, text: string): ExitCode => {
    void write(json ? `${JSON.stringify(value, null, 2)}\n` : text);
    return exitCodes.done;
  };
  switch (request.what) {
    case 'list': {
      const native = options.native === true;
      if (native && !isNativeOn(opened.statePath))
        say(`This view is off. ${options.command} native on begins it again.`);
      const { tasks: records, unreadable = [] } = await tasks.list({ native, limit: MAX_TASKS });
      for (const { task_id, why } of unreadable) say(`${task_id} ${oneLine(why, MAX_WHY_CHARS)}`);
      const table = taskTable(records, { ...options, nowMs: systemClock.now() });
      const history = native ? undefined : await tasks.historyWords();
      if (history !== undefined) say(history);
      return print(records, native && records.length === 0 ? NO_SESSIONS : table);
    }
    case 'show': {
      const record = await opened.find(request.task);
      const receipt = await opened.receiptOf(record);
      const text = taskDetails(record, { ...options, receipt, nowMs: systemClock.now() });
      return print({ ...record, ...(receipt !== undefined && { receipt }) }, text);
    }
    case 'log': {
      const record = await opened.find(request.task);
      const { log_file: path, started_at } = record;
      if (isOtherSession(record)) return print(NO_LOG, NO_LOG);
      await followLog({
        clock: systemClock,
        path,
        isOver: () => Promise.resolve(true),
        hasBegun: () => started_at !== null,
        write: (text) => void write(text),
        signal: lost,
      });
      return exitCodes.done;
    }
    case 'follow': {
      const record = await opened.find(request.task);
      return isOtherSession(record) ? print(NO_LOG, NO_LOG) : follow(opened, record, options);
    }
    case 'diff':
      await printTaskDiff(opened, await opened.find(request.task), {
        write,
        lost,
        say,
        isTerminal: columns !== undefined,
      });
      return exitCodes.done;
    case 'answer': {
      const record = await opened.find(request.task);
      if (isOtherSession(record)) throw withoutPlugin(record);
      const answer = answerOf(
        openDecision(record, request.decision, { command: options.command, nowMs: systemClock.now() }),
        request,
      );
      await requireOutsideSession(record, options.env);
      const after = await tasks.respond(record.task_id, answer);
      return print(after, `${answer.decision_id} answered: ${answer.verdict}\n`);
    }
    case 'kill': {
      const { task_id } = await opened.find(request.task);
      const final = await tasks.kill(task_id, request.reason ?? KILLED_BY_PERSON);
      return print(final, `${final.task_id} ${final.status}: ${final.reason}\n`);
    }
    case 'finish': {
      const found = await opened.find(request.task);
      const { task_id } = found;
      const { action } = request;
      // What is brought home is what is shown.
      const receipt = action === 'discard' ? undefined : await opened.receiptOf(found);
      const tree = receipt && treeOf(receipt);
      if (receipt !== undefined) for (const line of [...changedFiles(receipt), `tree ${tree}`]) say(line);
      const reviewed = request.reviewed ?? tree;
      const { signal } = new AbortController();
      const { record, notes } = await finisher.finish({ taskId: task_id, action, reviewed, signal });
      const done = finishWords(action, record.worktree?.finished?.result ?? '');
      return print(record, [`${task_id} ${action}: ${done}`, ...notes, ''].join('\n'));
    }
    case 'prune': {
      const { removed, withWork } = await tasks.prune(request.keep);
      const lines = [
        ...removed.map(({ task_id, status }) => `${task_id} (${status})\n`),
        ...withWork.map(({ task_id }) => `${task_id} stays: its worktree holds work (tasks finish)\n`),
        `${removed.length} removed\n`,
      ];
      return print(
        removed.map(({ task_id }) => task_id),
        lines.join(''),
      );
    }
    case 'rm': {
      const { task_id, worktree } = await opened.find(request.task);
      await tasks.remove(task_id, request.force);
      const stays = request.force && worktree !== undefined && existsSync(worktree.path);
      const rest = stays ? ` Its worktree ${worktree.path} stays, with the branch ${worktree.branch}.` : '';
      return print(task_id, `${task_id} removed: record, receipt, prompt, log and recording.${rest}\n`);
    }
  }
}

async function follow(
  { tasks }: OpenTasks,
  record: TaskRecord,
  { write, lost }: Pick<TasksOptions, 'write' | 'lost'>,
): Promise<ExitCode> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  let last = record;
  await followLog({
    clock: systemClock,
    path: record.log_file,
    isOver: async () => isFinal((last = await tasks.get(record.task_id)).status),
    hasBegun: () => last.started_at !== null,
    write: (text) => void write(text),
    signal: AbortSignal.any([stop.signal, lost]),
  });
  return isFinal(last.status) ? exitCodeOfEnd(last.status) : exitCodes.done;
}
