// Pure.
import { basename } from 'node:path';
import { oneLine } from '../base/text.js';
import { usedWords } from '../tasks/budget/budget.js';
import { openDecisions, WAITS_FOR_MESSAGE, type TaskRecord } from '../tasks/task.js';
import { FINISHED } from '../tasks/worktree-maker.js';
import { shortId } from './find-task.js';
import { ageOf, cellsOf, cutTo, padded, shortHome, type Look, type Style } from './terminal-text.js';

/** Where nothing limits the width of a row, longer texts are not cut, and move what follows them: project, prompt, what it does. */
const ALIGNED = [40, 60, Infinity];
/** Of any text, for a row is one line. */
const MAX_TEXT_CHARS = 2_000;
/** With less than this left for the texts of a row, it shows project and prompt alone; with less than two narrow ones, the project. */
const ROOM_FOR_NOW = 60;
const FEWEST_CHARS = 8;
const GAP = '  ';
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
  const isWaiting = ({ status }: TaskRecord): number => Number(status === 'waiting');
  const sorted = [...records].sort((one, other) => isWaiting(other) - isWaiting(one));
  const asked: Column = ['ASKS', (record) => String(openDecisions(record).length)];
  const facts: readonly Column[] = [
    ['TASK', ({ task_id }) => shortId(task_id)],
    ['STATUS', ({ status }) => status],
    ['AGE', ({ created_at }) => ageOf(created_at, nowMs)],
    ...(records.some((record) => openDecisions(record).length > 0) ? [asked] : []),
  ];
  const texts: readonly Column[] = [
    ['PROJECT', (record) => oneLine(shortHome(projectOf(record), homeDir), MAX_TEXT_CHARS)],
    ['PROMPT', ({ prompt_summary }) => oneLine(prompt_summary, MAX_TEXT_CHARS)],
    ['NOW', (record) => oneLine(`${budgetOf(record)}${nowOf(record)}`, MAX_TEXT_CHARS)],
  ];
  const rowsOf = (some: readonly Column[]): string[][] => [
    some.map(([title]) => title),
    ...sorted.map((record) => some.map(([, of]) => of(record))),
  ];
  const [left, right] = [rowsOf(facts), rowsOf(texts)];
  const fixed = widthsOf(left);
  const room = (columns ?? Infinity) - fixed.reduce((sum, width) => sum + width + GAP.length, 0);
  const widths = shared(widthsOf(right), room);
  const lines = left.map((cells, index) => {
    const shown = widths.map((width, column) => {
      const text = right[index]?.[column] ?? '';
      return columns === undefined ? text : cutTo(column === 0 ? shortPath(text, width) : text, width);
    });
    const row = [...cells, ...shown].map((text, at) => padded(text, [...fixed, ...widths][at] ?? 0));
    const line = cutTo(row.join(GAP).trimEnd(), columns ?? Infinity);
    const status = sorted[index - 1]?.status;
    return status === undefined ? paint('bold', line) : paintedStatus(line, status, look);
  });
  return `${lines.join('\n')}\n`;
}

/** A line in which a status stands first in its colour. */
export function paintedStatus(line: string, status: TaskRecord['status'], { paint }: Look): string {
  const style = STATUS_STYLES[status];
  return style === undefined ? line : line.replace(status, paint(style, status));
}

/** Of a task in a worktree the project that this was made from. */
export function projectOf({ project_path, worktree }: Pick<TaskRecord, 'project_path' | 'worktree'>): string {
  return worktree?.project_path ?? project_path;
}

/** Of a path without room, the name of the folder. */
function shortPath(path: string, width: number): string {
  return cellsOf(path) > width ? basename(path) : path;
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

/** The widths of the text columns in this room: narrow ones are whole, the others share what is left. */
function shared(natural: readonly number[], room: number): number[] {
  if (room === Infinity) return natural.map((width, at) => Math.min(width, ALIGNED[at] ?? width));
  const count = room >= ROOM_FOR_NOW ? natural.length : room >= 2 * FEWEST_CHARS + GAP.length ? 2 : 1;
  const widths = natural.slice(0, room < FEWEST_CHARS ? 0 : count);
  let left = room - GAP.length * (widths.length - 1);
  const narrowFirst = [...widths.keys()].sort((one, other) => (widths[one] ?? 0) - (widths[other] ?? 0));
  narrowFirst.forEach((at, done) => {
    const width = Math.min(widths[at] ?? 0, Math.floor(left / (widths.length - done)));
    widths[at] = width;
    left -= width;
  });
  return widths;
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const [titles = []] = rows;
  return titles.map((_, column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? ''))));
}
