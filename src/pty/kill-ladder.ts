import { sleep, withinMs, type Clock } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import { findDescendants } from './descendants.js';
import type { ProcessInfo } from './list-processes.js';

/** How long a process has between SIGTERM and SIGKILL. */
export const KILL_GRACE_MS = 5000;
/** A program that obeys is gone within this; an interrupt that takes longer is not waited for. */
const INTERRUPT_LIMIT_MS = 1000;
/** The first look after a signal; later looks are further apart, since each reads every process of the machine. */
const FIRST_LOOK_MS = 10;
const MAX_LOOK_MS = 200;
/** Between two looks that find nothing: an exec, in which a process shows no environment, takes a small part of this. */
const SURE_LOOK_MS = 3;
/** After SIGKILL only a process inside an uninterruptible call stays; nothing helps against that. */
const AFTER_KILL_MS = 3000;

export interface KillTarget {
  /** The terminal's first process: its session and process group. */
  readonly pid: number;
  /** False when that process is the program itself and not the bridge's shell around it, which is ended last. */
  readonly isWrapped?: boolean;
  /** The secret that every process of the task carries, see MARK_VARIABLE. */
  readonly mark: string;
  /** See ProcessQuery. */
  readonly startedSince?: string | undefined;
  readonly graceMs?: number;
  readonly clock: Clock;
  /** Asks the program to stop by itself, for instance by a key; it is not waited for longer than a second. */
  readonly interrupt?: () => void | Promise<void>;
}

export interface KillReport {
  /** Every process that was signalled and is gone. */
  readonly ended: readonly ProcessInfo[];
  /** Those that SIGTERM did not end. */
  readonly forced: readonly ProcessInfo[];
  /** Those that are still there (another user's, or stuck in the kernel). */
  readonly remaining: readonly ProcessInfo[];
}

/**
 * Ends a task's processes: `interrupt`, then SIGCONT and SIGTERM, after the grace time SIGKILL, to the process group and
 * to every process that carries the mark, again and again until a look finds none. Never rejects for a process that is
 * gone or may not be signalled.
 */
export async function killTree(target: KillTarget): Promise<KillReport> {
  const { clock } = target;
  if (target.interrupt) await withinMs(clock, INTERRUPT_LIMIT_MS, Promise.resolve(target.interrupt()));
  const seen = new Map<string, ProcessInfo>();
  const forced = new Map<string, ProcessInfo>();
  const termed = new Set<string>();

  let left = await repeatUntilGone(target, target.graceMs ?? KILL_GRACE_MS, seen, (found) => {
    for (const one of found.filter((each) => !termed.has(keyOf(each)))) {
      termed.add(keyOf(one));
      // A stopped process takes no SIGTERM before it goes on.
      signal(one, 'SIGTERM');
      signal(one, 'SIGCONT');
    }
  });
  if (left.length > 0) {
    left = await repeatUntilGone(target, AFTER_KILL_MS, seen, (found) => {
      // A program spared for its children would be spared for ever: it may start them faster than they are looked at.
      const meant = target.isWrapped === false ? found : withoutWrapper(found, target.pid);
      for (const one of meant) {
        forced.set(keyOf(one), one);
        signal(one, 'SIGKILL');
      }
    });
  }
  const remaining = new Set(left.map(keyOf));
  const gone = (one: ProcessInfo) => !remaining.has(keyOf(one));
  return { ended: [...seen.values()].filter(gone), forced: [...forced.values()], remaining: left };
}

/** Looks and acts until nothing is found or the time is over; returns what the last look found. */
async function repeatUntilGone(
  target: KillTarget,
  limitMs: number,
  seen: Map<string, ProcessInfo>,
  act: (found: readonly ProcessInfo[]) => void,
): Promise<ProcessInfo[]> {
  const deadlineMs = target.clock.monotonicMs() + limitMs;
  let wasEmpty = false;
  for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * 2, MAX_LOOK_MS)) {
    const found = await findDescendants(target);
    for (const one of found) seen.set(keyOf(one), one);
    const leftMs = deadlineMs - target.clock.monotonicMs();
    // In the moment of an exec a process shows no environment: only two looks in a row are sure of nothing.
    if (leftMs <= 0 || (found.length === 0 && wasEmpty)) return found;
    wasEmpty = found.length === 0;
    if (wasEmpty) lookMs = FIRST_LOOK_MS;
    act(found);
    await sleep(target.clock, Math.min(wasEmpty ? SURE_LOOK_MS : lookMs, leftMs));
  }
}

/** The wrapper goes last: alive, it still tells how the program ended, and whoever reads the terminal ends it then. */
function withoutWrapper(found: readonly ProcessInfo[], pid: number): readonly ProcessInfo[] {
  const others = found.filter((one) => one.pid !== pid);
  return others.length > 0 ? others : found;
}

/** The look is milliseconds old: a pid that was given anew in between would be hit, and nothing portable prevents that. */
function signal(one: ProcessInfo, name: NodeJS.Signals): void {
  try {
    process.kill(one.pid, name);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    // Gone already, or not ours to signal: the report's `remaining` tells.
    if (code !== 'ESRCH' && code !== 'EPERM') throw thrown;
  }
}

function keyOf(one: ProcessInfo): string {
  return `${one.pid} ${one.startId}`;
}
