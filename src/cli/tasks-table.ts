// Pure.
import { basename } from 'node:path';
import { farIdOf } from '../base/ids.js';
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
const ROOM_FOR_PROMPT = 18;
const GAP = '  ';
const STATUS_STYLES: Partial<Record<TaskRecord['status'], Style>> = {
  waiting: 'yellow',
  running: 'cyan',
  completed: 'green',
  failed: 'red',
  error: 'red',
  timeout: 'red',
};

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
  const hasAsks = records.some((record) => openDecisions(record).length > 0);
  const facts = [
    ['TASK', 'STATUS', 'AGE', ...(hasAsks ? ['ASKS'] : [])],
    ...sorted.map((record) => [
      shortId(record.task_id),
      record.status,
      ageOf(record.created_at, nowMs),
      ...(hasAsks ? [String(openDecisions(record).length)] : []),
    ]),
  ];
  const texts = [
    ['PROJECT', 'PROMPT', 'NOW'],
    ...sorted.map((record) =>
      [shownProject(record, homeDir), record.prompt_summary, nowOf(record)].map((text) =>
        oneLine(text, MAX_TEXT_CHARS),
      ),
    ),
  ];
  const fixed = widthsOf(facts);
  const room = columns && columns - fixed.reduce((sum, width) => sum + width + GAP.length, 0);
  const widths = textWidths(widthsOf(texts), room);
  const lines = facts.map((cells, index) => {
    const [project = '', ...others] = texts[index] ?? [];
    const [width = 0] = widths;
    // Of a path without room, the name of the folder.
    const place = room !== undefined && cellsOf(project) > width ? basename(project) : project;
    const shown = [place, ...others].slice(0, widths.length);
    const fitting = shown.map((text, at) => (room === undefined ? text : cutTo(text, widths[at] ?? 0)));
    const row = [...cells, ...fitting].map((text, at) => padded(text, [...fixed, ...widths][at] ?? 0));
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

/** The project as a person writes it. The home folder of another machine is not this one. */
export function shownProject(record: TaskRecord, homeDir: string): string {
  const path = projectOf(record);
  return farIdOf(record.task_id) === undefined ? shortHome(path, homeDir) : path;
}

/** Of a task in a worktree the project that this was made from. */
function projectOf({ project_path, worktree }: Pick<TaskRecord, 'project_path' | 'worktree'>): string {
  return worktree?.project_path ?? project_path;
}

/** What it does, or which answer it waits for; of a task with a budget, first what it has used of it. */
function nowOf(record: TaskRecord): string {
  const { status, reason, activity, undone_at, worktree, line } = record;
  if (line !== undefined) return line;
  const used = record.budget === undefined ? '' : `[${usedWords(record)}] `;
  if (undone_at !== undefined) return `${used}undone: ${reason}`;
  if (worktree?.finished !== undefined) return `${used}${FINISHED[worktree.finished.action]}: ${reason}`;
  const waitsForAnswer = status === 'waiting' && !reason.endsWith(WAITS_FOR_MESSAGE);
  return `${used}${activity === '' || waitsForAnswer ? reason : activity}`;
}

/** The widths of the text columns in this room: each has at most its share of what is left. */
function textWidths(natural: readonly number[], room: number | undefined): number[] {
  if (room === undefined) return natural.map((width, at) => Math.min(width, ALIGNED[at] ?? width));
  const count = room >= ROOM_FOR_NOW ? natural.length : room >= ROOM_FOR_PROMPT ? 2 : 1;
  let left = room - GAP.length * (count - 1);
  return natural.slice(0, count).map((width, at) => {
    const share = Math.max(0, Math.min(width, Math.floor(left / (count - at))));
    left -= share;
    return share;
  });
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const [titles = []] = rows;
  return titles.map((_, column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? ''))));
}
