import type { TaskCard } from '../../src/board/state.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

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
