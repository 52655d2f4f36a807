import { shownCharacters } from '../../src/base/text.js';
import type { TaskCard, WorktreeEnd } from '../../src/board/state.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
export const SHORT_HASH = 8;

/** A text as it really is: characters that could hide or reorder a part of it stand as escapes. */
export { shownCharacters as visible };

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

/** How long ago a task ended, or for how long it runs or waits for its start. */
export function age({ ended_at, started_at, created_at }: TaskCard, nowMs: number): string {
  return span((nowMs - Date.parse(ended_at ?? started_at ?? created_at)) / 1000);
}

/** The home folder stands as `~`. */
export function shortPath(path: string, home: string): string {
  if (home !== '' && path === home) return '~';
  return home !== '' && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** What a task is for, on one line. */
export function titleOf({ prompt_summary }: Pick<TaskCard, 'prompt_summary'>): string {
  return shownCharacters(prompt_summary.replaceAll(/(?:\s*⏎\s*)+/g, ' '));
}

/** The name of the folder of a project. */
export function projectName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'error', 'timeout']);

/** How a task is colored: `asks` waits for a person, `good` and `failed` are over, `idle` waits for something else or was killed. */
export function statusLook(
  { status, is_final, is_ready, is_held_up }: TaskCard,
  isAsked: boolean,
): 'asks' | 'runs' | 'good' | 'failed' | 'idle' {
  if (is_final) return FAILED.has(status) ? 'failed' : status === 'completed' ? 'good' : 'idle';
  if (isAsked || (status === 'waiting' && !is_ready && !is_held_up)) return 'asks';
  return status === 'running' || status === 'starting' ? 'runs' : 'idle';
}

/** How a task stands, in the words of the list. */
export function statusWords({ status, is_final, is_ready, is_held_up }: TaskCard, look: string): string {
  if (is_final) return status;
  if (look === 'asks') return 'needs you';
  return is_held_up ? 'blocked' : is_ready ? 'ready' : status === 'pending' ? 'queued' : status;
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
