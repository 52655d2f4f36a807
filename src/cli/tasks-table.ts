// Pure.
import { basename } from 'node:path';
import { oneLine } from '../base/text.js';
import { usedWords } from '../tasks/budget/budget.js';
import { openDecisions, WAITS_FOR_MESSAGE, type TaskRecord } from '../tasks/task.js';
import { FINISHED } from '../tasks/worktree-maker.js';
import { shortId } from './find-task.js';
import { ageOf, cellsOf, cutTo, padded, shortHome, type Look, type Style } from './terminal-text.js';

/** Where nothing limits the width of a row, longer texts are not cut, and move what follows them. */
const ALIGNED = { project: 40, prompt: 60 } as const;
/** Of any text, for a row is one line. */
const MAX_TEXT_CHARS = 2_000;
/** With less than this left for the texts of a row, it shows project and prompt alone. */
const ROOM_FOR_NOW = 60;
const GAP = '  ';
/** Project, prompt and what the task does: the last columns, which share the room. */
const TEXT_COLUMNS = 3;
const FEWEST_CHARS = 8;
const STATUS_STYLES: Partial<Record<TaskRecord['status'], Style>> = {
  waiting: 'yellow',
  running: 'cyan',
  completed: 'green',
  failed: 'red',
  error: 'red',
  timeout: 'red',
};

/** Its title, and its text for a task. */
type Column = readonly [string, (record: TaskRecord) => string];

export interface TableOptions {
  readonly nowMs: number;
  readonly homeDir: string;
  /** Without columns, no row is cut to a width. */
  readonly look: Look;
}

/** One row a task, those that wait first: short id, status, age, open questions (where there are any), project, prompt, what it does. */
export function taskTable(records: readonly TaskRecord[], { nowMs, homeDir, look }: TableOptions): string {
  if (records.length === 0) return 'No tasks.\n';
  const { columns, paint } = look;
  const sorted = [...records].sort((one, other) => Number(isWaiting(other)) - Number(isWaiting(one)));
  const asks = records.some((record) => openDecisions(record).length > 0);
  const asked: Column = ['ASKS', (record) => String(openDecisions(record).length)];
  const texts: readonly Column[] = [
    ['TASK', ({ task_id }) => shortId(task_id)],
    ['STATUS', ({ status }) => status],
    ['AGE', ({ created_at }) => ageOf(created_at, nowMs)],
    ...(asks ? [asked] : []),
    ['PROJECT', (record) => oneLine(shortHome(projectOf(record), homeDir), MAX_TEXT_CHARS)],
    ['PROMPT', ({ prompt_summary }) => oneLine(prompt_summary, MAX_TEXT_CHARS)],
    ['NOW', (record) => oneLine(`${budgetOf(record)}${nowOf(record)}`, MAX_TEXT_CHARS)],
  ];
  const rows = [texts.map(([title]) => title), ...sorted.map((one) => texts.map(([, of]) => of(one)))];
  const natural = widthsOf(rows);
  const fixed = natural.slice(0, -TEXT_COLUMNS);
  const used = fixed.reduce((sum, width) => sum + width + GAP.length, 0);
  const widths = [...fixed, ...textWidths(natural.slice(-TEXT_COLUMNS), columns, used)];
  const lines = rows.map((row, index) => {
    const cells = widths.map((width, column) => {
      const text = row[column] ?? '';
      return padded(columns === undefined ? text : fit(text, width, column === fixed.length), width);
    });
    const line = cells.join(GAP).trimEnd();
    const cut = columns === undefined ? line : cutTo(line, columns);
    const status = sorted[index - 1]?.status;
    return status === undefined ? paint('bold', cut) : paintedStatus(cut, status, look);
  });
  return `${lines.join('\n')}\n`;
}

/** A line in which a status stands first in its colour. */
export function paintedStatus(line: string, status: TaskRecord['status'], { paint }: Look): string {
  const style = STATUS_STYLES[status];
  return style === undefined ? line : line.replace(status, paint(style, status));
}

function isWaiting({ status }: TaskRecord): boolean {
  return status === 'waiting';
}

/** Of a task in a worktree the project that this was made from. */
export function projectOf({ project_path, worktree }: Pick<TaskRecord, 'project_path' | 'worktree'>): string {
  return worktree?.project_path ?? project_path;
}

/** Of a path without room, the name of the folder. */
function fit(text: string, width: number, isPath: boolean): string {
  return cutTo(isPath && cellsOf(text) > width ? basename(text) : text, width);
}

/** Of a task with a budget, what it has used of it. */
function budgetOf(record: TaskRecord): string {
  return record.budget === undefined ? '' : `[${usedWords(record)}] `;
}

/** What it does, or which answer it waits for. */
function nowOf({ status, reason, activity, undone_at, worktree }: TaskRecord): string {
  if (undone_at !== undefined) return `undone: ${reason}`;
  if (worktree?.finished !== undefined) return `${FINISHED[worktree.finished.action]}: ${reason}`;
  const waitsForAnswer = status === 'waiting' && !reason.endsWith(WAITS_FOR_MESSAGE);
  return activity === '' || waitsForAnswer ? reason : activity;
}

/** The widths of project, prompt and what the task does, as far as there is room. */
function textWidths(natural: readonly number[], columns: number | undefined, used: number): number[] {
  const [project = 0, prompt = 0, now = 0] = natural;
  if (columns === undefined)
    return [Math.min(project, ALIGNED.project), Math.min(prompt, ALIGNED.prompt), now];
  const room = columns - used;
  if (room < FEWEST_CHARS) return [];
  if (room < 2 * FEWEST_CHARS + GAP.length) return [room];
  const withNow = room >= ROOM_FOR_NOW;
  const first = clamp(project, Math.floor(room / (withNow ? 4 : 3)));
  const rest = room - first - GAP.length;
  if (!withNow) return [first, clamp(prompt, rest)];
  const second = clamp(prompt, Math.max(Math.floor((rest - GAP.length) / 2), rest - GAP.length - now));
  return [first, second, clamp(now, rest - second - GAP.length)];
}

function clamp(natural: number, room: number): number {
  return Math.min(natural, Math.max(FEWEST_CHARS, room));
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  return rows.reduce<number[]>(
    (found, row) => row.map((text, column) => Math.max(found[column] ?? 0, cellsOf(text))),
    [],
  );
}
