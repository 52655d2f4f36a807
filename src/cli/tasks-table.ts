// Pure.
import { oneLine } from '../base/text/text.js';
import { usedWords } from '../tasks/budget/budget.js';
import { openDecisions, WAITS_FOR_MESSAGE, type TaskRecord } from '../tasks/task.js';
import { ageOf, shortHome } from './tasks-text.js';

/** Where nothing limits the width of a row, longer texts are not cut, and move what follows them. */
const ALIGNED = { project: 40, prompt: 60 } as const;
/** Of any text, for a row is one line. */
const MAX_TEXT_CHARS = 2_000;
/** With less than this left for the texts of a row, it shows project and prompt alone. */
const ROOM_FOR_NOW = 60;
const GAP = '  ';
const FEWEST_CHARS = 8;
/** Characters that take two columns in a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const NARROW_MARK = /\p{Mn}|\ufe0f|\u200d/u;

export interface TableOptions {
  readonly nowMs: number;
  readonly homeDir: string;
  /** Of the terminal; without one, no row is cut to a width. */
  readonly columns?: number | undefined;
}

/** One row a task: id, status, age, open questions (where there are any), project, prompt, what it does. */
export function taskTable(records: readonly TaskRecord[], options: TableOptions): string {
  if (records.length === 0) return 'No tasks.\n';
  const asks = records.some((record) => openDecisions(record).length > 0);
  const fixed = [
    ['TASK', 'STATUS', 'AGE', ...(asks ? ['ASKS'] : [])],
    ...records.map((record) => [
      record.task_id,
      record.status,
      ageOf(record.created_at, options.nowMs),
      ...(asks ? [String(openDecisions(record).length)] : []),
    ]),
  ];
  const texts = [
    ['PROJECT', 'PROMPT', 'NOW'],
    ...records.map((record) => [
      shortHome(record.project_path, options.homeDir),
      oneLine(record.prompt_summary, MAX_TEXT_CHARS),
      oneLine(`${budgetOf(record)}${nowOf(record)}`, MAX_TEXT_CHARS),
    ]),
  ];
  const fixedWidths = widthsOf(fixed);
  const used = fixedWidths.reduce((sum, width) => sum + width + GAP.length, 0);
  const { columns } = options;
  const [project, prompt, now] = textWidths(widthsOf(texts), columns, used);
  const lines = fixed.map((row, index) => {
    const text = (column: number): string => texts[index]?.[column] ?? '';
    const cells = fixedWidths.map((width, column) => padded(row[column] ?? '', width));
    if (project !== undefined)
      cells.push(padded(columns === undefined ? text(0) : end(text(0), project), project));
    if (prompt !== undefined)
      cells.push(padded(columns === undefined ? text(1) : start(text(1), prompt), prompt));
    if (now !== undefined) cells.push(columns === undefined ? text(2) : start(text(2), now));
    const line = cells.join(GAP).trimEnd();
    return columns === undefined ? line : start(line, columns);
  });
  return `${lines.join('\n')}\n`;
}

/** Of a task with a budget, what it has used of it. */
function budgetOf(record: TaskRecord): string {
  return record.budget === undefined ? '' : `[${usedWords(record)}] `;
}

/** What it does, or which answer it waits for. */
function nowOf({ status, reason, activity }: TaskRecord): string {
  const waitsForAnswer = status === 'waiting' && !reason.endsWith(WAITS_FOR_MESSAGE);
  return activity === '' || waitsForAnswer ? reason : activity;
}

/** The widths of project, prompt and what the task does; undefined for those without room. */
function textWidths(
  natural: readonly number[],
  columns: number | undefined,
  used: number,
): readonly (number | undefined)[] {
  const [project = 0, prompt = 0, now = 0] = natural;
  if (columns === undefined)
    return [Math.min(project, ALIGNED.project), Math.min(prompt, ALIGNED.prompt), now];
  const room = columns - used;
  if (room < FEWEST_CHARS) return [];
  if (room < 2 * FEWEST_CHARS + GAP.length) return [undefined, room];
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

/** The beginning of a text, in at most so many columns. */
function start(text: string, width: number): string {
  return cut(
    text,
    width,
    (chars) => chars.pop(),
    (left) => `${left}…`,
  );
}

/** The end of a path, in at most so many columns. */
function end(text: string, width: number): string {
  return cut(
    text,
    width,
    (chars) => chars.shift(),
    (left) => `…${left}`,
  );
}

function cut(
  text: string,
  width: number,
  drop: (chars: string[]) => void,
  marked: (left: string) => string,
): string {
  let cells = cellsOf(text);
  if (cells <= width) return text;
  const chars = [...text];
  for (; cells > width - 1 && chars.length > 0; cells = cellsOf(chars.join(''))) drop(chars);
  return marked(chars.join(''));
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - cellsOf(text)));
}

function cellsOf(text: string): number {
  let cells = 0;
  for (const char of text) cells += NARROW_MARK.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return cells;
}
