import { existsSync } from 'node:fs';
import { systemClock } from '../base/system-clock.js';
import { oneLine } from '../base/text/text.js';
import { shownCharacters } from '../base/text/unseen-characters.js';
import { finishWords, type FinishAction } from '../tasks/worktree-maker.js';
import { treeOf } from '../tasks/receipt/receipt.js';
import { changedFiles } from './receipt-text.js';
import { isNativeOn } from '../native/native-switch.js';
import { withoutPlugin } from '../tasks/native-session.js';
import { isOtherSession, NO_LOG } from '../tasks/other-sessions.js';
import { isFinal, openDecisions, type TaskRecord } from '../tasks/task.js';
import { followLog } from './attach/follow-log.js';
import { requireOutsideTasks, type CommandContext } from './command-context.js';
import { answerOf, openDecision, type GivenAnswer } from './decisions.js';
import { exitCodeOfEnd, exitCodes, type ExitCode } from './exit-codes.js';
import { shortId } from './find-task.js';
import { openTasks, type OpenTasks } from './open-tasks.js';
import { requireOutsideSession } from '../tasks/own-session.js';
import { taskTable } from './tasks-table.js';
import { taskDetails } from './tasks-text.js';
import { TerminalLog } from './terminal-log.js';
import { paintedDiff } from './terminal-text.js';

/** Every task that a state directory can hold. */
const MAX_TASKS = 10_000;
const MAX_WHY_CHARS = 500;
const NO_SESSIONS = 'No sessions in the allowed folders.\n';
const KILLED_BY_PERSON = 'Killed by claude-code-bridge tasks kill.';

export interface TasksOptions extends CommandContext {
  /** Sessions that people started alone. */
  readonly native: boolean;
  /** For machines: one JSON value on stdout. */
  readonly json: boolean;
}

export type TasksRequest =
  | { readonly what: 'list' }
  | { readonly what: 'show' | 'log' | 'follow' | 'diff'; readonly task: string | undefined }
  | { readonly what: 'kill'; readonly task: string; readonly reason?: string | undefined }
  | { readonly what: 'message'; readonly task: string; readonly text: string }
  | { readonly what: 'interrupt'; readonly task: string }
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
  message: 'send messages to tasks',
  interrupt: 'interrupt tasks',
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
  const { json, output, say } = options;
  const nowMs = systemClock.now();
  const print = (value: unknown, text: string): ExitCode => {
    void output.write(json ? `${JSON.stringify(value, null, 2)}\n` : text);
    return exitCodes.done;
  };
  switch (request.what) {
    case 'list': {
      const { native } = options;
      if (native && !isNativeOn(opened.statePath))
        say(`This view is off. ${options.command} native on begins it again.`);
      const { tasks: records, unreadable = [] } = await tasks.list({ native, limit: MAX_TASKS });
      for (const { task_id, why } of unreadable) say(`${task_id} ${oneLine(why, MAX_WHY_CHARS)}`);
      const table = taskTable(records, { ...options, nowMs });
      const history = native ? undefined : await tasks.historyWords();
      if (history !== undefined) say(history);
      return print(records, native && records.length === 0 ? NO_SESSIONS : table);
    }
    case 'show': {
      const record = await opened.find(request.task);
      const receipt = await opened.receiptOf(record);
      const text = taskDetails(record, { ...options, receipt, nowMs });
      return print({ ...record, ...(receipt !== undefined && { receipt }) }, text);
    }
    case 'log':
    case 'follow': {
      const record = await opened.find(request.task);
      if (isOtherSession(record)) return print(NO_LOG, NO_LOG);
      const follows = request.what === 'follow';
      const { status } = await showLog(opened, record, options, { follows });
      return follows && isFinal(status) ? exitCodeOfEnd(status) : exitCodes.done;
    }
    case 'diff':
      await printDiff(opened, await opened.find(request.task), options);
      return exitCodes.done;
    case 'answer': {
      const record = await opened.find(request.task);
      if (isOtherSession(record)) throw withoutPlugin(record);
      const answer = answerOf(
        openDecision(record, request.decision, { command: options.command, nowMs }),
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
    case 'message': {
      const record = await opened.find(request.task);
      const { task_id } = record;
      await requireOutsideSession(record, options.env);
      const after = await tasks.message(task_id, { text: request.text });
      return print(after, sentWords(after, options.command));
    }
    case 'interrupt': {
      const { task_id } = await opened.find(request.task);
      const after = await tasks.message(task_id, { interrupt: true, by: 'command line' });
      const next = `${options.command} tasks message ${shortId(task_id)} "Use pnpm."`;
      return print(after, `${task_id} was interrupted. To say what it does instead: ${next}\n`);
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
      const done = action === 'undo' ? '' : finishWords(action, record.worktree?.finished?.result ?? '');
      return print(record, [`${task_id} ${action}: ${done}`.trimEnd(), ...notes, ''].join('\n'));
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

/**
 * Prints what a task changed, as `git diff` does; on a terminal in colours, and with control characters as escapes. Throws NOT_A_REPOSITORY
 * where git saw nothing of it, and the errors of git.
 */
async function printDiff(
  { patches, changes }: Pick<OpenTasks, 'patches' | 'changes'>,
  record: TaskRecord,
  { output, look, say }: CommandContext,
): Promise<void> {
  const patch = await changes.patchOf(record);
  if (patch.state === 'nothing') return say(patch.why);
  const text = new TextDecoder();
  let rest = '';
  const take = (chunk: Uint8Array): Promise<void> => {
    if (look.columns === undefined) return output.write(chunk);
    const lines = `${rest}${shownCharacters(text.decode(chunk, { stream: true }))}`.split('\n');
    rest = lines.pop() ?? '';
    return output.write(lines.map((line) => `${paintedDiff(line, look)}\n`).join(''));
  };
  try {
    await patches(patch.query, take, output.lost);
  } catch (error) {
    // git was ended since nothing takes its output: the end says what that means.
    if (!output.lost.aborted) throw error;
  }
  if (rest !== '') await output.write(`${paintedDiff(rest, look)}\n`);
  for (const note of patch.notes) say(note);
}

/** What became of a message, as the record says after it was taken. */
function sentWords(record: TaskRecord, command: string): string {
  const { task_id } = record;
  const [open] = openDecisions(record);
  const waits = open === undefined ? '' : ` It waits until ${open.decision_id} is answered.`;
  return `The message is on its way to ${task_id}.${waits} To see the answer: ${command} tasks follow ${shortId(task_id)}\n`;
}

/**
 * Prints the log of a task: as it is now, or with `follows` as it grows, until the task ends, Ctrl-C, or nothing reads it. Resolves with the
 * last record.
 */
export async function showLog(
  { tasks }: Pick<OpenTasks, 'tasks'>,
  record: TaskRecord,
  { look, output }: Pick<CommandContext, 'look' | 'output'>,
  { follows }: { readonly follows: boolean },
): Promise<TaskRecord> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  return followLog({
    get: () => tasks.get(record.task_id),
    follows,
    log: new TerminalLog(look, systemClock.now(), (text) => void output.write(text)),
    signal: AbortSignal.any([stop.signal, output.lost]),
  });
}
