import { shownCharacters } from '../../src/base/text.js';
import type { TaskCard, WorktreeEnd } from '../../src/board/state.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SHORT_HASH = 8;

/** A text as it really is: characters that could hide or reorder a part of it stand as escapes. */
export function visible(text: string): string {
  return shownCharacters(text);
}

/** A time span on few characters: `42 s`, `5 min`, `3 h 10 min`, `2 d`. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < DAY) {
    const minutes = Math.floor((whole % HOUR) / MINUTE);
    return `${Math.floor(whole / HOUR)} h${minutes === 0 ? '' : ` ${minutes} min`}`;
  }
  return `${Math.floor(whole / DAY)} d`;
}

/** How long a task runs, or when it ended. */
export function age(task: TaskCard, nowMs: number): string {
  if (task.ended_at !== null) return `${span((nowMs - Date.parse(task.ended_at)) / 1000)} ago`;
  return span((nowMs - Date.parse(task.started_at ?? task.created_at)) / 1000);
}

/** The home folder stands as `~`. */
export function shortPath(path: string, home: string): string {
  if (home !== '' && path === home) return '~';
  return home !== '' && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The name of a project first, then where it is. */
export function projectWords(path: string, home: string): string {
  const short = shortPath(path, home);
  const at = short.lastIndexOf('/');
  const folder = short.slice(0, at);
  return at <= 0 ? short : `${short.slice(at + 1)} (${folder})`;
}

const drivers: Readonly<Record<string, string>> = {
  interactive: 'in a terminal',
  print: 'without a terminal',
  native: 'started by a person',
};

/** True for a session that a person started: only its requests are answered here. */
export function isNative({ driver }: Pick<TaskCard, 'driver'>): boolean {
  return driver === 'native';
}

/** How Claude Code runs. */
export function driverWords(driver: string): string {
  return drivers[driver] ?? driver;
}

export function clockTime(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false });
}

/** In one word: what became of a worktree. */
export const endWords: Readonly<Record<WorktreeEnd['action'], string>> = {
  merge: 'merged',
  apply: 'applied',
  discard: 'discarded',
  undo: 'undone',
};

/** What became of the work of a task, and where it is. */
export function finishWords({ action, result }: WorktreeEnd): string {
  if (action === 'undo') return 'What it changed was undone; new files and commits stay.';
  if (result === '') return 'The worktree is finished; git saw no work in it.';
  if (action === 'merge') return `Merged as ${result.slice(0, SHORT_HASH)}.`;
  if (action === 'apply') return `Applied as uncommitted changes; a copy is at ${result}.`;
  return `Discarded; kept at ${result}. To have it back: git branch back ${result}`;
}

/** The address as a browser opens it; undefined for one that is not of the web. */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' ? href : undefined;
}
