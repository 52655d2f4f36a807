// Pure.
import { oneLine, quotedLines } from '../base/text/text.js';
import { usedWords } from '../tasks/budget/budget.js';
import { treeOf, type Receipt } from '../tasks/receipt/receipt.js';
import { finishActionSchema } from '../tasks/worktree-maker.js';
import { isOtherSession } from '../tasks/other-sessions.js';
import { isFinal, isNative, openDecisions, type Decision, type TaskRecord } from '../tasks/task.js';
import { answerLines, decisionLines } from './decision-text.js';
import { canContinue, inCommands } from './in-commands.js';
import { receiptLines } from './receipt-text.js';

const MAX_VALUE_CHARS = 2_000;
const SECONDS = { day: 86_400, hour: 3_600, minute: 60 } as const;

export interface DetailsOptions {
  readonly nowMs: number;
  readonly homeDir: string;
  /** How a person runs this program. */
  readonly command: string;
  /** Of a task that has ended. */
  readonly receipt?: Receipt | undefined;
}

/** Everything about one task, and the commands for it. */
export function taskDetails(record: TaskRecord, options: DetailsOptions): string {
  const { nowMs, homeDir, command, receipt } = options;
  const fields: [string, string][] = [
    ['task', record.task_id],
    ['status', `${record.status}: ${reasonOf(record, command)}`],
    ['project', shortHome(record.project_path, homeDir)],
    ['prompt', record.prompt_summary],
    ['started', `${record.created_at} (${ageOf(record.created_at, nowMs)} ago)${ranFor(record)}`],
    [
      'driver',
      `${record.driver}, ${isNative(record) ? 'started by a person' : record.permission_mode}${record.cli_version === null ? '' : `, Claude Code ${record.cli_version}`}`,
    ],
  ];
  const used = usedWords(record);
  if (used !== '') fields.push(['used', used]);
  if (record.parent !== undefined) fields.push(['started by', record.parent.task_id]);
  if (!isOtherSession(record)) fields.push(['log', shortHome(record.log_file, homeDir)]);
  if (receipt === undefined && record.files_changed.length > 0)
    fields.push(['changed', record.files_changed.join(', ')]);
  const lines = fieldLines(fields);
  for (const decision of openDecisions(record))
    lines.push('', ...openDecisionLines(decision, record, command));
  // What an agent printed must not drive the terminal that it is shown in.
  if (receipt !== undefined) lines.push(...receiptLines(receipt));
  else if (record.last_output !== '') lines.push('', 'last output:', quotedLines(record.last_output));
  const next = nextCommands(record, options);
  if (next.length > 0) lines.push('', ...fieldLines(next));
  return `${lines.join('\n')}\n`;
}

/** Who ended a task says how in words of its own; other reasons may say what to do next. */
function reasonOf({ status, reason }: TaskRecord, command: string): string {
  return status === 'killed' ? reason : inCommands(reason, command);
}

/** What is asked, until when, and how it is answered. */
function openDecisionLines(decision: Decision, record: TaskRecord, command: string): string[] {
  const until = `(until ${decision.expires_at})`;
  const begin = `${command} ${isNative(record) ? 'native' : 'tasks'} answer ${record.task_id}`;
  return [...decisionLines(decision), until, ...answerLines(decision, begin)];
}

/** What can be done with the task in a terminal. */
function nextCommands(record: TaskRecord, { command, receipt }: DetailsOptions): [string, string][] {
  const { task_id, status, worktree } = record;
  if (isNative(record) && !isFinal(status)) return [];
  if (!isFinal(status))
    return [
      ['attach', `${command} attach ${task_id}`],
      ['follow', `${command} tasks follow ${task_id}`],
      ['end', `${command} tasks kill ${task_id}`],
    ];
  const goOn: [string, string][] = canContinue(record.reason)
    ? [['continue', `${command} run --continue ${task_id} "Go on."`]]
    : [];
  if (worktree === undefined || worktree.finished !== undefined) return goOn;
  const tree = receipt === undefined ? undefined : treeOf(receipt);
  return [
    ...goOn,
    ['worktree', `${worktree.path}, on the branch ${worktree.branch}`],
    ['diff', `${command} tasks diff ${task_id}`],
    ...finishActionSchema.options.map((action): [string, string] => [
      action,
      `${command} tasks finish ${task_id} ${action}${tree === undefined || action === 'discard' ? '' : ` --reviewed ${tree}`}`,
    ]),
  ];
}

function fieldLines(fields: readonly [string, string][]): string[] {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value, MAX_VALUE_CHARS)}`);
}

/** A path as a person writes it. */
export function shortHome(path: string, homeDir: string): string {
  if (path === homeDir) return '~';
  return homeDir !== '/' && path.startsWith(`${homeDir}/`) ? `~${path.slice(homeDir.length)}` : path;
}

function ranFor({ started_at, elapsed_seconds }: TaskRecord): string {
  if (started_at === null) return '';
  return elapsed_seconds === 0 ? ', ran less than a second' : `, ran ${elapsed_seconds} s`;
}

export function ageOf(at: string, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(at)) / 1000));
  if (seconds >= SECONDS.day) return `${Math.floor(seconds / SECONDS.day)}d`;
  if (seconds >= SECONDS.hour) return `${Math.floor(seconds / SECONDS.hour)}h`;
  if (seconds >= SECONDS.minute) return `${Math.floor(seconds / SECONDS.minute)}m`;
  return `${seconds}s`;
}
