// Pure.
import { countedNoun, oneLine, quotedLines } from '../base/text.js';
import { usedWords } from '../tasks/budget/budget.js';
import { worktreeTask } from '../projects/worktree-path.js';
import { canContinue } from '../tasks/polling-hint.js';
import { isUndoable, treeOf, type Receipt } from '../tasks/receipt/receipt.js';
import { finishWords } from '../tasks/worktree-maker.js';
import { worktreeEndSchema } from '../tasks/worktree-maker.js';
import { folderGoneNote, isFinal, isNative, openDecisions, type TaskRecord } from '../tasks/task.js';
import { checkedLines } from './checks-text.js';
import { answerCommand, answerLines, decisionLines } from './decisions.js';
import { shortId } from './find-task.js';
import { receiptLines } from './receipt-text.js';
import { paintedStatus, projectOf } from './tasks-table.js';
import { ageOf, durationOf, fitted, shortHome, shownTime, withCommand, type Look } from './terminal-text.js';

const MAX_VALUE_CHARS = 2_000;
/** What a person may say next to a task. */
const SAMPLE_MESSAGE = '"Use pnpm."';

export interface DetailsOptions {
  readonly nowMs: number;
  readonly homeDir: string;
  /** How a person runs this program. */
  readonly command: string;
  readonly look: Look;
  /** Of a task that has ended. */
  readonly receipt?: Receipt | undefined;
  /** The folder that it worked in is no longer there. */
  readonly isGone?: boolean;
}

/** Everything about one task, and the commands for it. */
export function taskDetails(record: TaskRecord, options: DetailsOptions): string {
  const { nowMs, homeDir, look, receipt } = options;
  const { task_id, status, created_at, started_at, worktree, cli_version } = record;
  const since = started_at ?? created_at;
  const mode = isNative(record) ? 'started by a person' : record.permission_mode;
  const fields: [string, string][] = [
    ['task', task_id],
    ['status', `${status}: ${record.reason}`],
    ['project', shortHome(projectOf(record), homeDir)],
    ['prompt', record.prompt_summary],
    [
      started_at !== null ? 'started' : status === 'pending' ? 'queued' : 'created',
      `${shownTime(since, look, nowMs)} (${ageOf(since, nowMs)} ago)${ranFor(record)}`,
    ],
    ['driver', `${record.driver}, ${mode}${cli_version === null ? '' : `, Claude Code ${cli_version}`}`],
  ];
  const cost = receipt?.usage.cost_usd ?? 'unknown';
  const used = usedWords(cost === 'unknown' ? record : { cost_usd: cost, ...record });
  if (used !== '') fields.push(['used', used]);
  if (worktree !== undefined && worktree.finished === undefined)
    fields.push(
      ['worktree', shortHome(worktree.path, homeDir)],
      ['branch', worktree.branch],
      ...worktree.notes.map((note): [string, string] => ['note', note]),
    );
  const { finished } = worktree ?? {};
  if (finished !== undefined) {
    const words = finishWords(finished.action, finished.result);
    fields.push(['finished', `${shownTime(finished.at, look, nowMs)}: ${words}`]);
  }
  const isTold = receipt?.notes.includes(goneWords(record)) === true;
  if (options.isGone === true && finished === undefined && !isTold) fields.push(['note', goneWords(record)]);
  fields.push(['log', shortHome(record.log_file, homeDir)]);
  if (record.undone_at !== undefined) fields.push(['undone', record.undone_at]);
  if (receipt === undefined && record.files_changed.length > 0)
    fields.push(['changed', record.files_changed.join(', ')]);
  const [first = '', second = '', ...others] = fieldLines(fields, look);
  const lines = [first, paintedStatus(second, status, look), ...others];
  for (const decision of openDecisions(record)) {
    const until = `(until ${shownTime(decision.expires_at, look, nowMs)})`;
    const ways = answerLines(decision, answerCommand(record, options.command));
    lines.push('', ...decisionLines(decision, look), until, ...ways);
  }
  // What an agent printed must not drive the terminal that it is shown in.
  const output = record.last_output === '' ? [] : ['', 'last output:', quotedLines(record.last_output)];
  const rest = receipt === undefined ? output : receiptLines(receipt);
  for (const line of [...checkedLines(record), ...rest].flatMap((text) => text.split('\n')))
    lines.push(fitted(line, look, line.startsWith('| ') ? '| ' : '    '));
  // Commands are never broken: they are pasted.
  const goOn: [string, string][] =
    record.ended_by_budget !== undefined ? [['go on', budgetWords(record)]] : [];
  const next = [...goOn, ...nextCommands(record, options)];
  const width = Math.max(...next.map(([name]) => name.length));
  if (next.length > 0) lines.push('');
  for (const [name, command] of next)
    lines.push(withCommand(`${name.padEnd(width)} `, command, look).replace(name, look.paint('dim', name)));
  return `${lines.join('\n')}\n`;
}

function budgetWords({ ended_by_budget }: TaskRecord): string {
  return ended_by_budget === 'day'
    ? 'Possible tomorrow, or once the setting day_budget is raised.'
    : 'It gets a budget of its own: --max-cost and --max-tokens, up to what the setting task_budget allows.';
}

/** What `tasks interrupt` prints. `before`: the task as it was; a message that waited then goes in after the turn. */
export function interruptedWords(
  { task_id, messages = [] }: TaskRecord,
  { command, look }: Pick<DetailsOptions, 'command' | 'look'>,
): string {
  const waiting = messages.filter(({ state }) => state === 'waiting').length;
  const id = shortId(task_id);
  const was = `${task_id} was interrupted.`;
  const next =
    waiting === 0
      ? withCommand(
          `${was} To say what it does instead:`,
          `${command} tasks message ${id} ${SAMPLE_MESSAGE}`,
          look,
        )
      : withCommand(
          `${was} It gets ${countedNoun(waiting, 'message')} that waited. To see the answer:`,
          `${command} tasks follow ${id}`,
          look,
        );
  return `${next}\n`;
}

/** Of a task whose folder is gone. */
function goneWords(record: TaskRecord): string {
  return record.worktree === undefined
    ? folderGoneNote(record)
    : `The worktree is no longer there: what was committed is on the branch ${record.worktree.branch}.`;
}

/** What can be done with the task in a terminal. */
function nextCommands(record: TaskRecord, { command, receipt, isGone }: DetailsOptions): [string, string][] {
  const { status, worktree } = record;
  const id = shortId(record.task_id);
  if (isNative(record) && !isFinal(status)) return [];
  if (!isFinal(status)) {
    const follow: [string, string] = ['follow', `${command} tasks follow ${id}`];
    const end: [string, string] = ['end', `${command} tasks kill ${id}`];
    // One in the queue has no terminal, and takes no message.
    if (status === 'pending') return [follow, end];
    return [
      ['attach', `${command} attach ${id}`],
      follow,
      ['message', `${command} tasks message ${id} ${SAMPLE_MESSAGE}`],
      end,
    ];
  }
  // With the budget of the day used up it would be refused; `go on` says when it is possible. No answer: nothing to go on from.
  const goOn: [string, string][] =
    canContinue(record) && !isNative(record) && record.ended_by_budget !== 'day' && record.tokens !== 0
      ? [['continue', `${command} run --continue ${id} "Go on."`]]
      : [];
  if (worktree?.finished !== undefined) return goOn;
  if (isGone === true)
    return worktree === undefined ? [] : [['discard', `${command} tasks finish ${id} discard`]];
  const tree = receipt === undefined ? undefined : treeOf(receipt);
  const owner = worktree === undefined ? worktreeTask(record.project_path) : undefined;
  // It went on in another task's worktree, whose work is finished as one.
  if (owner !== undefined) return [...goOn, ['finish', `${command} tasks finish ${shortId(owner)} merge`]];
  const diff: [string, string] = ['diff', `${command} tasks diff ${id}`];
  if (worktree === undefined)
    return isUndoable(record, receipt)
      ? [...goOn, diff, ['undo', `${command} tasks finish ${id} undo --reviewed ${tree}`]]
      : goOn;
  const isEmpty =
    receipt?.git.state === 'repository' && receipt.git.files_total + receipt.git.commits_total === 0;
  const ends = isEmpty ? (['discard'] as const) : worktreeEndSchema.options;
  return [
    ...goOn,
    ...(isEmpty ? [] : [diff]),
    ...ends.map((action): [string, string] => [
      action,
      `${command} tasks finish ${id} ${action}${tree === undefined || action === 'discard' ? '' : ` --reviewed ${tree}`}`,
    ]),
  ];
}

function fieldLines(fields: readonly [string, string][], look: Look): string[] {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => {
    const line = `${name.padEnd(width)}  ${oneLine(value, MAX_VALUE_CHARS)}`;
    // What has no blanks, such as a path, stays whole: it is copied.
    const shown = value.includes(' ') ? fitted(line, look, ' '.repeat(width + 2)) : line;
    return `${look.paint('dim', shown.slice(0, width))}${shown.slice(width)}`;
  });
}

function ranFor({ started_at, elapsed_seconds, status, status_source }: TaskRecord): string {
  if (started_at === null) return '';
  // Of a keeper that died, only its last sign of life is known.
  if (status === 'error' && status_source === 'observed')
    return `, ran at least ${durationOf(elapsed_seconds * 1000)}`;
  return elapsed_seconds === 0 ? ', ran less than a second' : `, ran ${durationOf(elapsed_seconds * 1000)}`;
}
