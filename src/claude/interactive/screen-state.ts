// Pure: what the CLI's screen says, where no hook does.
import { isRule } from './menu.js';

/** The part of a snapshot that is looked at here. */
export interface ScreenLines {
  readonly lines: readonly string[];
  readonly columns: number;
  readonly cursor: { readonly column: number; readonly row: number };
}

export type ScreenState =
  /** The input box is there and no turn runs. */
  | 'idle'
  /** A turn runs: the footer offers to interrupt it. */
  | 'busy'
  /** First-start screens that only a person can go through. */
  | 'onboarding'
  | 'login'
  | 'unreachable'
  | 'other';

/** The label column of an empty input box: `❯ ` and then the cursor. */
const EMPTY_COMPOSER_COLUMN = 2;

export function readScreenState(screen: ScreenLines): ScreenState {
  const filled = screen.lines.filter((line) => line.trim() !== '');
  const text = filled.join('\n');
  if (/Unable to connect to Anthropic services/.test(text)) return 'unreachable';
  if (/^\s*(Let's get started\.|Choose the text style|Security notes:)/m.test(text)) return 'onboarding';
  if (/^\s*(Select login method|Paste code here|Browser didn't open)/m.test(text)) return 'login';
  if (composerRow(screen) === undefined) return 'other';
  return filled.slice(-FOOTER_LINES).some((line) => /\besc to interrupt\b/.test(line)) ? 'busy' : 'idle';
}

/** The footer below the input box is at most this many lines. */
const FOOTER_LINES = 3;

/** The row of the input box (`❯` between two rules), or undefined. */
export function composerRow({ lines, columns }: ScreenLines): number | undefined {
  const row = lines.findLastIndex(
    (line, index) => /^❯/u.test(line) && isBoxBorder(lines[index - 1] ?? '', columns),
  );
  return row === -1 ? undefined : row;
}

/** The box's upper rule, which may carry a title such as `─── History 1/1 ───`. */
function isBoxBorder(line: string, columns: number): boolean {
  return isRule(line, columns) || (line.length >= columns - 1 && /^───.*───$/u.test(line));
}

/** True when the input box is there and holds no text of ours (a grey placeholder leaves the cursor at its start). */
export function isComposerEmpty(screen: ScreenLines): boolean {
  const row = composerRow(screen);
  return row !== undefined && screen.cursor.row === row && screen.cursor.column === EMPTY_COMPOSER_COLUMN;
}

/** `API error · Retrying in 4s · attempt 4/10`, `429 … · retrying in 1s · attempt 3/10`, or undefined. */
export function readRetryNotice({ lines }: ScreenLines): string | undefined {
  const line = lines.findLast((candidate) => /[Rr]etrying in \d+.*attempt \d+\/\d+/.test(candidate));
  return line?.replace(/^[\s✻✽✶✳✢·*]+/u, '').trim();
}

/** True when the last turn was interrupted at the terminal. */
export function isInterrupted({ lines }: ScreenLines): boolean {
  const last = lines.findLast((line) => /^\s*(⎿|❯|●)/u.test(line) && !/^❯\s*$/u.test(line));
  return last !== undefined && /Interrupted · What should Claude do instead\?/.test(last);
}

const spinnerLine = /^\s*[✻✽✶✳✢·*]\s.*…(\s*\(.*\))?\s*$/u;
const chromeLine =
  /(\? for shortcuts|esc to interrupt|\/effort|ctrl\+g to edit|manual mode on|auto mode on|Esc to cancel)/;

/**
 * What a person would read of the screen: without the input box and its footer, rules, spinner lines and the header box;
 * runs of blank lines become one.
 */
export function readableText(screen: ScreenLines): string {
  const composer = composerRow(screen);
  const end = composer === undefined ? screen.lines.length : composer - 1;
  const kept = screen.lines
    .slice(0, end)
    .filter(
      (line) =>
        !isRule(line, screen.columns) && !spinnerLine.test(line) && !chromeLine.test(line) && !isHeader(line),
    )
    .map((line) => line.trimEnd());
  return kept
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function isHeader(line: string): boolean {
  return (
    /^[│╭╰]/u.test(line) ||
    /^\s*[▐▝·][▛▜█▘▝\s]/u.test(line) ||
    /^\s*▝▝\s+▝▝/u.test(line) ||
    /Claude Code v\d+\.\d+\.\d+/.test(line)
  );
}
