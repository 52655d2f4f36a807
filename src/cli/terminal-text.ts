// Pure: texts that fit a person's terminal.
import { oneLine } from '../base/text.js';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** How texts are shown on one output. */
export interface Look {
  /** Of the terminal; undefined elsewhere: then nothing is cut or wrapped, and times are ISO 8601 in UTC. */
  readonly columns: number | undefined;
  /** The text in a style, where the output has colours. */
  readonly paint: (style: Style, text: string) => string;
  /** A control sequence of this program, marked as such: one in any other text is shown as an escape. */
  readonly own: (sequence: string) => string;
}

/** Characters that take two columns in a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const NARROW_MARK = /\p{Mn}|\ufe0f|\u200d/u;
/** Of a time as it was sent. */
const MAX_TIME_CHARS = 40;
const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** By the first character of a line of a patch. */
const DIFF_STYLES: Partial<Record<string, Style>> = { '+': 'green', '-': 'red', '@': 'cyan', d: 'bold' };

/** How many columns a text takes. */
export function cellsOf(text: string): number {
  let cells = 0;
  for (const char of text) cells += NARROW_MARK.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return cells;
}

/** The beginning of a text in at most so many columns, with `…` at a cut. */
export function cutTo(text: string, columns: number): string {
  if (cellsOf(text) <= columns) return text;
  let kept = '';
  let cells = 1;
  for (const char of text) {
    cells += cellsOf(char);
    if (cells > columns) break;
    kept += char;
  }
  return `${kept}…`;
}

export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - cellsOf(text)));
}

/**
 * A line in rows of at most so many columns, broken before a word where that fits, and every row but the first behind `hang`. The rows hold
 * every character; the blanks before a break may be wider.
 */
export function wrapped(line: string, columns: number, hang = '', width = cellsOf): string[] {
  const rows: string[] = [];
  let row = '';
  const next = (): void => {
    rows.push(row);
    row = hang;
  };
  for (const word of line.split(/(?<=\s)(?=\S)/u)) {
    if (width(row + word.trimEnd()) > columns && row.trim() !== '') next();
    for (const char of word) {
      if (width(row + char) > columns && char.trim() !== '' && row !== hang) next();
      row += char;
    }
  }
  return [...rows, row];
}

/** A line for a terminal; elsewhere as it is. */
export function fitted(line: string, { columns }: Look, hang = ''): string {
  if (columns === undefined) return line;
  const rows = wrapped(line, columns, hang);
  return rows.map((row) => row.trimEnd()).join('\n');
}

/** Sentences for a terminal, line by line. Behind two blanks is a command, which is pasted and never broken; what is painted fits. */
export function fittedLines(text: string, look: Look): string {
  return text.replace(/^(?! {2})[^\u001b\n]+$/gm, (line) => fitted(line, look));
}

/** Words and the command of a step: on a line of its own where a terminal would break it, since it is copied. */
export function withCommand(words: string, command: string, look: Look): string {
  const line = `${words} ${command}`;
  if (look.columns === undefined || cellsOf(line) <= look.columns) return line;
  return `${fitted(words.trimEnd(), look)}\n  ${command}`;
}

/** A line of a patch: what was added, removed, where, and in which file. */
export function paintedDiff(line: string, { paint }: Look): string {
  const style = DIFF_STYLES[line.slice(0, 1)];
  return style === undefined ? line : paint(style, line);
}

/** A time for a person at a terminal, `HH:MM:SS` of the machine's zone, with the date when it is another day than `nowMs`; elsewhere `at`. */
export function shownTime(at: string, { columns }: Look, nowMs: number): string {
  if (columns === undefined) return oneLine(at, MAX_TIME_CHARS);
  const day = localDay(at);
  return day === localDay(nowMs) ? localTime(at) : `${day} ${localTime(at)}`;
}

/** `HH:MM:SS` of the machine's zone. */
export function localTime(at: string | number): string {
  return new Date(at).toLocaleTimeString('en-GB');
}

/** `YYYY-MM-DD` of the machine's zone. */
export function localDay(at: string | number): string {
  return new Date(at).toLocaleDateString('sv-SE');
}

/** `42s`, `3m 5s`, `2h 4m`, `3d 1h`. */
export function durationOf(ms: number): string {
  let left = Math.max(0, Math.floor(ms / 1000));
  const parts = UNITS.map(([unit, seconds]) => {
    const count = Math.floor(left / seconds);
    left %= seconds;
    return count === 0 ? '' : `${count}${unit}`;
  });
  const first = parts.findIndex((part) => part !== '');
  return first === -1
    ? '0s'
    : parts
        .slice(first, first + 2)
        .join(' ')
        .trimEnd();
}

/** How old something is, in its largest unit. */
export function ageOf(at: string, nowMs: number): string {
  const [age = ''] = durationOf(nowMs - Date.parse(at)).split(' ');
  return age;
}

/** A path as a person writes it. */
export function shortHome(path: string, homeDir: string): string {
  if (path === homeDir) return '~';
  return homeDir !== '/' && path.startsWith(`${homeDir}/`) ? `~${path.slice(homeDir.length)}` : path;
}
