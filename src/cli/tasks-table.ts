import { oneLine } from '../base/text/text.js';
import { openDecisions, type TaskRecord } from '../tasks/task.js';
import { ageOf, shortHome } from './tasks-text.js';

/** The most characters of the texts of a row, where nothing limits its width. */
const MOST = { project: 40, prompt: 60, now: 60 } as const;
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
      oneLine(record.prompt_summary, MOST.prompt),
      oneLine(record.activity === '' ? record.reason : record.activity, MOST.now),
    ]),
  ];
  const fixedWidths = widthsOf(fixed);
  const used = fixedWidths.reduce((sum, width) => sum + width + GAP.length, 0);
  const widths = [...fixedWidths, ...textWidths(widthsOf(texts), options.columns, used)];
  const rows = fixed.map((row, index) => [...row, ...(texts[index] ?? [])]);
  const isProject = (column: number): boolean => column === fixedWidths.length;
  const lines = rows.map((row) =>
    widths
      .map((width, column) => cell(row[column] ?? '', width, isProject(column)))
      .join(GAP)
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** The widths of project, prompt and, where it fits, what the task does. */
function textWidths(natural: readonly number[], columns: number | undefined, used: number): number[] {
  const [project = 0, prompt = 0, now = 0] = natural;
  if (columns === undefined) return [Math.min(project, MOST.project), prompt, now];
  const room = columns - used;
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

/** `text` in exactly so many columns; of a path that is too long, its end. */
function cell(text: string, width: number, isPath: boolean): string {
  const chars = [...text];
  if (cellsOf(text) > width) {
    while (cellsOf(chars.join('')) > width - 1) {
      if (isPath) chars.shift();
      else chars.pop();
    }
    if (isPath) chars.unshift('…');
    else chars.push('…');
  }
  const shown = chars.join('');
  return shown + ' '.repeat(Math.max(0, width - cellsOf(shown)));
}

function cellsOf(text: string): number {
  let cells = 0;
  for (const char of text) cells += NARROW_MARK.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return cells;
}
