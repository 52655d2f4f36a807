// Pure: reads the state of the CLI from its screen, for what no hook reports.
import type { TroubleKind } from '../session.js';
import { isFullRule, isRuleLike, isTitledRule, readMenu } from './menu.js';

/** The part of a snapshot that is read here. */
export interface ScreenLines {
  readonly lines: readonly string[];
  readonly columns: number;
  readonly cursor: { readonly column: number; readonly row: number };
}

/** `idle`: the input box is shown and no turn runs. `busy`: it is shown, and its footer offers to interrupt the turn. */
export type ScreenState = 'idle' | 'busy' | 'other';

/** The cursor's column in an empty input box, after `❯ `. */
const EMPTY_COMPOSER_COLUMN = 2;
/** The spinner is at most this many filled lines above the input box; a hint may be between them. */
const SPINNER_LINES = 3;

export function readScreenState(screen: ScreenLines): ScreenState {
  const box = composerBox(screen);
  if (box === undefined) return 'other';
  const below = screen.lines.slice(box.bottom + 1);
  const above = screen.lines.slice(0, box.top).filter((line) => line.trim() !== '');
  const isBusy =
    below.some((line) => /\besc to interrupt\b/.test(line)) ||
    above.slice(-SPINNER_LINES).some((line) => spinnerLine.test(line));
  return isBusy ? 'busy' : 'idle';
}

/** Why a session cannot go on; `text` says what a person does. */
export interface StartTrouble {
  readonly kind: TroubleKind;
  readonly text: string;
}

/**
 * A first-start screen that only a person can go through. Its words count only where the CLI draws them, below its welcome or in its
 * login menu, and never together with an input box: an agent's text may contain them too.
 */
export function readStartTrouble(screen: ScreenLines): StartTrouble | undefined {
  if (composerBox(screen) !== undefined) return undefined;
  const menu = readMenu(screen.lines, screen.columns);
  if (menu?.heading[0] === 'Login' && menu.heading.at(-1) === 'Select login method:') return NO_LOGIN;
  const filled = screen.lines.filter((line) => line.trim() !== '');
  const welcome = filled.findIndex((line) => welcomeLine.test(line));
  // The CLI may print lines about its settings first; an agent's words begin with a mark.
  if (welcome === -1 || filled.slice(0, welcome).some((line) => markedLine.test(line))) return undefined;
  const text = filled.slice(welcome).join('\n');
  if (/^ *Unable to connect to Anthropic services/m.test(text)) return unreachable(text);
  if (/^ *(Select login method|Paste code here|Browser didn't open)/m.test(text)) return NO_LOGIN;
  const isFirst = /^ *(Let's get started\.|Choose the text style|Security notes:)/m.test(text);
  return isFirst ? FIRST_START : undefined;
}

const FIRST_START: StartTrouble = {
  kind: 'onboarding',
  text: 'Claude Code shows its first-start screens. Run `claude` once in a terminal, finish them, and start the task again.',
};
const NO_LOGIN: StartTrouble = {
  kind: 'not-logged-in',
  text: 'Claude Code is not logged in. Run `claude` once in a terminal and log in, then start the task again.',
};

function unreachable(text: string): StartTrouble {
  const [why] = /^ *Failed to connect to \S.*$/m.exec(text) ?? [];
  const service = why === undefined ? 'its service' : `its service: ${why.trim()}`;
  return {
    kind: 'network',
    text: `Claude Code could not connect to ${service}. Check the network (and HTTPS_PROXY, ANTHROPIC_BASE_URL), then start the task again.`,
  };
}

/** The row of the input box (between two rules, with the cursor in it), or undefined. */
export function composerRow(screen: ScreenLines): number | undefined {
  const box = composerBox(screen);
  return box === undefined ? undefined : box.top + 1;
}

/** Claude Code holds the cursor in the box, whatever stands below it; a sign says its mode (`❯`, `!` for shell commands). */
function composerBox({ lines, columns, cursor }: ScreenLines): { top: number; bottom: number } | undefined {
  // The upper rule may carry a title.
  const isTop = (line: string): boolean => isFullRule(line, columns) || isTitledRule(line, columns);
  const top = lines.findLastIndex((line, row) => row < cursor.row && isTop(line));
  const bottom = lines.findIndex((line, row) => row > cursor.row && isFullRule(line, columns));
  if (top === -1 || bottom === -1 || !/^[❯!]/u.test(lines[top + 1] ?? '')) return undefined;
  return { top, bottom };
}

/**
 * True when the input box is shown without text (a grey placeholder leaves the cursor at its start), and takes a prompt: in the mode of
 * shell commands, a text would run as one.
 */
export function isComposerEmpty(screen: ScreenLines): boolean {
  const row = composerRow(screen);
  if (row === undefined || screen.lines[row]?.startsWith('❯') !== true) return false;
  return screen.cursor.row === row && screen.cursor.column === EMPTY_COMPOSER_COLUMN;
}

/** A menu asks whether the tasks of the session shall end with it, and stands on yes (2.1.330, 2.1.332). */
export function asksToStopTasks({ lines }: ScreenLines): boolean {
  return lines.some((line) => /^\s*❯ 1\. Exit and stop tasks$/u.test(line.trimEnd()));
}

/** `API error · Retrying in 4s · attempt 4/10`, `429 … · retrying in 1s · attempt 3/10`, or undefined. */
export function readRetryNotice({ lines }: ScreenLines): string | undefined {
  const line = lines.findLast((candidate) =>
    /^[✻✽✶✳✢·*●] .*[Rr]etrying in \d+.*attempt \d+\/\d+/u.test(candidate),
  );
  return line?.slice(1).trim();
}

/** The beginning of what a session shows: the agent's words, a prompt, a result, the header. */
const markedLine = /^\s*[●❯>⎿✻╭│▐▝]/u;
const spinnerLine = /^[✻✽✶✳✢·*]\s.*…(\s*\(.*\))?\s*$/u;
const welcomeLine = /^Welcome to Claude Code\b/;

/** What the screen shows, as lines that are not blank and no rules. */
export function shownText({ lines }: Pick<ScreenLines, 'lines'>): string {
  return lines.filter((line) => line.trim() !== '' && !isRuleLike(line)).join('\n');
}
