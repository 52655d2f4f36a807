// Pure: one task as a person reads it in a terminal.
import { farIdOf, idOn } from '../base/ids.js';
import { countedNoun, oneLine, quotedLines, shellWord, shownLine } from '../base/text.js';
import { worktreeTask } from '../projects/worktree-path.js';
import { usedWords } from '../tasks/budget/budget.js';
import { canContinue } from '../tasks/polling-hint.js';
import { isUndoable, treeOf, type Receipt } from '../tasks/receipt/receipt.js';
import { folderGoneNote, isFinal, isNative, openDecisions, type TaskRecord } from '../tasks/task.js';
import { finishWords, worktreeEndSchema } from '../tasks/worktree-maker.js';
import { checkedLines } from './checks-text.js';
import { answerCommand, answerLines, decisionLines } from './decisions.js';
import { shortId } from './find-task.js';
import { receiptLines } from './receipt-text.js';
import { paintedStatus, shownProject } from './tasks-table.js';
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

/** A name, and what stands behind it. */
type Line = readonly [string, string];

/** Everything about one task, and the commands for it. */
export function taskDetails(record: TaskRecord, options: DetailsOptions): string {
  const { nowMs, look, receipt, command } = options;
  const [first = '', second = '', ...others] = fieldLines(fieldsOf(record, options), look);
  const lines = [first, paintedStatus(second, record.status, look), ...others];
  for (const decision of openDecisions(record)) {
    const until = `(until ${shownTime(decision.expires_at, look, nowMs)})`;
    const ways = answerLines(decision, answerCommand(record, command));
    lines.push('', ...decisionLines(decision, look), until, ...ways);
  }
  // What an agent printed must not drive the terminal that it is shown in.
  const output = record.last_output === '' ? [] : ['', 'last output:', quotedLines(record.last_output)];
  const rest = receipt === undefined ? output : receiptLines(receipt);
  for (const line of [...checkedLines(record), ...rest].flatMap((text) => text.split('\n')))
    lines.push(fitted(line, look, line.startsWith('| ') ? '| ' : '    '));
  // Commands are never broken: they are pasted.
  const next = nextCommands(record, options);
  const width = Math.max(...next.map(([name]) => name.length));
  if (next.length > 0) lines.push('');
  for (const [name, words] of next)
    lines.push(withCommand(`${name.padEnd(width)} `, words, look).replace(name, look.paint('dim', name)));
  return `${lines.join('\n')}\n`;
}

function fieldsOf(record: TaskRecord, { nowMs, homeDir, look, receipt, isGone }: DetailsOptions): Line[] {
  const { status, started_at, worktree, cli_version, files_changed } = record;
  const { finished } = worktree ?? {};
  const here = (path: string): string =>
    farIdOf(record.task_id) === undefined ? shortHome(path, homeDir) : path;
  const since = started_at ?? record.created_at;
  const began = started_at !== null ? 'started' : status === 'pending' ? 'queued' : 'created';
  const mode = isNative(record) ? 'started by a person' : record.permission_mode;
  const cost = receipt?.usage.cost_usd ?? 'unknown';
  const used = usedWords(cost === 'unknown' ? record : { cost_usd: cost, ...record });
  const open = finished === undefined ? worktree : undefined;
  const gone = goneWords(record);
  const isNoted = isGone === true && finished === undefined && receipt?.notes.includes(gone) !== true;
  const fields: (readonly [string, string | undefined])[] = [
    ['task', record.task_id],
    ['status', `${status}: ${record.reason}`],
    ['line', record.line],
    ['project', shownProject(record, homeDir)],
    ['prompt', record.prompt_summary],
    [began, `${shownTime(since, look, nowMs)} (${ageOf(since, nowMs)} ago)${ranFor(record)}`],
    ['driver', `${record.driver}, ${mode}${cli_version === null ? '' : `, Claude Code ${cli_version}`}`],
    ['used', used === '' ? undefined : used],
    ['worktree', open && here(open.path)],
    ['branch', open?.branch],
    ...(open?.notes ?? []).map((note) => ['note', note] as const),
    [
      'finished',
      finished && `${shownTime(finished.at, look, nowMs)}: ${finishWords(finished.action, finished.result)}`,
    ],
    ['note', isNoted ? gone : undefined],
    ['log', here(record.log_file)],
    ['undone', record.undone_at],
    ['changed', receipt === undefined && files_changed.length > 0 ? files_changed.join(', ') : undefined],
  ];
  return fields.flatMap(([name, value]): Line[] => (value === undefined ? [] : [[name, value]]));
}

/** What `tasks interrupt` prints. `before`: the task as it was; a message that waited then goes in after the turn. */
export function interruptedWords(
  { task_id, messages = [] }: TaskRecord,
  { command, look }: Pick<DetailsOptions, 'command' | 'look'>,
): string {
  const waiting = messages.filter(({ state }) => state === 'waiting').length;
  const [what, next] =
    waiting === 0
      ? ['To say what it does instead:', `message ${shortId(task_id)} ${SAMPLE_MESSAGE}`]
      : [
          `It gets ${countedNoun(waiting, 'message')} that waited. To see the answer:`,
          `follow ${shortId(task_id)}`,
        ];
  return `${withCommand(`${task_id} was interrupted. ${what}`, `${command} tasks ${next}`, look)}\n`;
}

/** Of a task whose folder is gone. */
function goneWords(record: TaskRecord): string {
  return record.worktree === undefined
    ? folderGoneNote(record)
    : `The worktree is no longer there: what was committed is on the branch ${record.worktree.branch}.`;
}

/** What can be done with the task in a terminal. */
function nextCommands(record: TaskRecord, options: DetailsOptions): Line[] {
  const { command } = options;
  const id = shortId(record.task_id);
  const { ended_by_budget: budget } = record;
  const budgeted: Line[] = budget === undefined ? [] : [['go on', budgetWords[budget]]];
  if (isFinal(record.status)) return [...budgeted, ...endedCommands(record, options)];
  if (isNative(record)) return [];
  const follow = ['follow', `${command} tasks follow ${id}`] as const;
  const end = ['end', `${command} tasks kill ${id}`] as const;
  // One in the queue has no terminal, and takes no message.
  if (record.status === 'pending') return [follow, end];
  const message = ['message', `${command} tasks message ${id} ${SAMPLE_MESSAGE}`] as const;
  return [['attach', `${command} attach ${id}`], follow, message, end];
}

function endedCommands(record: TaskRecord, { command, receipt, isGone }: DetailsOptions): Line[] {
  const { worktree } = record;
  const id = shortId(record.task_id);
  const finish = (action: string, task = id): Line => [action, `${command} tasks finish ${task} ${action}`];
  const reviewed = ([name, words]: Line): Line => {
    // Another machine may name what a shell would run.
    const tree = receipt && treeOf(receipt);
    return [name, tree === undefined ? words : `${words} --reviewed ${shellWord(shownLine(tree), '/')}`];
  };
  // With the budget of the day used up it would be refused; `go on` says when it is possible. No answer: nothing to go on from.
  const isOver = isNative(record) || record.ended_by_budget === 'day' || record.tokens === 0;
  const goOn: Line[] =
    isOver || !canContinue(record) ? [] : [['continue', `${command} run --continue ${id} "Go on."`]];
  if (worktree?.finished !== undefined) return goOn;
  if (isGone === true) return worktree === undefined ? [] : [finish('discard')];
  const far = farIdOf(record.task_id);
  const made = worktree === undefined ? worktreeTask(record.project_path) : undefined;
  const owner = made !== undefined && far !== undefined ? idOn(far.machine, made) : made;
  // It went on in another task's worktree, whose work is finished as one.
  if (owner !== undefined) return [...goOn, ['finish', finish('merge', shortId(owner))[1]]];
  const diff: Line = ['diff', `${command} tasks diff ${id}`];
  if (worktree === undefined)
    return isUndoable(record, receipt) ? [...goOn, diff, reviewed(finish('undo'))] : goOn;
  const isEmpty =
    receipt?.git.state === 'repository' && receipt.git.files_total + receipt.git.commits_total === 0;
  if (isEmpty) return [...goOn, finish('discard')];
  const ends = worktreeEndSchema.options.map((action) =>
    action === 'discard' ? finish(action) : reviewed(finish(action)),
  );
  return [...goOn, diff, ...ends];
}

/** When a task goes on that was ended at a budget. */
const budgetWords: Readonly<Record<NonNullable<TaskRecord['ended_by_budget']>, string>> = {
  day: 'Possible tomorrow, or once the setting day_budget is raised.',
  task: 'It gets a budget of its own: --max-cost and --max-tokens, up to what the setting task_budget allows.',
};

function fieldLines(fields: readonly Line[], look: Look): string[] {
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
