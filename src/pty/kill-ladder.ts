import { sleep, withinMs, type Clock } from '../base/clock.js';
import type { Family } from '../os/choose-processes.js';
import { findDescendants } from '../os/find-processes.js';
import type { Pid } from '../os/pid.js';
import { isSameKey, type ProcessInfo } from '../os/process-info.js';
import { thisMachine, type ProcessSystem } from '../os/process-system.js';
import { signalProcesses } from '../os/send-signals.js';

/** How long a process has between SIGTERM and SIGKILL. */
export const KILL_GRACE_MS = 5000;
/** A program that obeys an interrupt is gone within this time. */
const INTERRUPT_LIMIT_MS = 1000;
/** The first scan after a signal; later scans are further apart, since each reads every process of the machine. */
const FIRST_SCAN_MS = 10;
const MAX_SCAN_MS = 200;
/** Between two scans that find nothing: an exec, in which a process shows no environment, takes a small part of this. */
const SURE_SCAN_MS = 3;
/** After SIGKILL only a process inside an uninterruptible call stays; nothing helps against that. */
const AFTER_KILL_MS = 3000;

/** `pid` is the terminal's first process; without one only what carries the mark, and what descends from it, is meant. */
export interface KillTarget extends Omit<Family, 'known'> {
  /** False when that process is the program itself and not the bridge's shell around it, which is ended last. */
  readonly isWrapped?: boolean;
  readonly graceMs?: number;
  readonly clock: Clock;
  /** Asks the program to stop by itself, for instance by a key; it is not waited for longer than a second. */
  readonly interrupt?: () => void | Promise<void>;
  readonly system?: ProcessSystem;
}

export interface KillReport {
  /** Every process that was found and is gone. */
  readonly ended: readonly ProcessInfo[];
  /** Those that are still there (another user's, or stuck in the kernel). */
  readonly remaining: readonly ProcessInfo[];
}

/**
 * Ends a task's processes: `interrupt`, then SIGTERM and SIGCONT, after the grace time SIGKILL, until two scans in a row find
 * none. SIGTERM is sent once, to all that the first scan finds. They may clean up, and what they start for that may run
 * until the grace time ends. Never rejects for a process that is gone or may not be signalled; rejects when the system
 * does not list its processes until the time is over.
 */
export async function killTree(target: KillTarget): Promise<KillReport> {
  const { clock, system = thisMachine, pid, isWrapped, interrupt, graceMs = KILL_GRACE_MS } = target;
  if (interrupt !== undefined) await withinMs(clock, INTERRUPT_LIMIT_MS, Promise.resolve(interrupt()));
  const seen: ProcessInfo[] = [];
  let isTermed = false;
  const term = async (found: readonly ProcessInfo[]): Promise<void> => {
    if (isTermed) return;
    // A stopped process takes no SIGTERM before it goes on.
    await signalProcesses(found, ['SIGTERM', 'SIGCONT'], system);
    isTermed = true;
  };
  // A program may start children faster than they are scanned, so it is not spared for their sake.
  const kill = async (found: readonly ProcessInfo[]): Promise<void> =>
    void (await signalProcesses(
      isWrapped === false ? found : withoutWrapper(found, pid),
      ['SIGKILL'],
      system,
    ));
  // If the scan fails: SIGKILL scans again, and rejects if that still fails.
  const termed = graceMs > 0 ? repeatUntilGone(target, graceMs, seen, term) : undefined;
  const left = await termed?.catch(() => undefined);
  const remaining = left?.length === 0 ? left : await repeatUntilGone(target, AFTER_KILL_MS, seen, kill);
  const isGone = (one: ProcessInfo): boolean => !remaining.some((other) => isSameKey(one, other));
  return { ended: seen.filter(isGone), remaining };
}

/** Scans and acts until nothing is found or the time is over; returns what the last scan found. */
async function repeatUntilGone(
  target: KillTarget,
  limitMs: number,
  seen: ProcessInfo[],
  act: (found: readonly ProcessInfo[]) => Promise<void>,
): Promise<ProcessInfo[]> {
  const { clock, system } = target;
  const deadlineMs = clock.monotonicMs() + limitMs;
  let wasEmpty = false;
  for (let scanMs = FIRST_SCAN_MS; ; scanMs = Math.min(scanMs * 2, MAX_SCAN_MS)) {
    const leftMs = (): number => deadlineMs - clock.monotonicMs();
    try {
      const found = await findDescendants({ ...target, known: seen }, system);
      for (const one of found) if (!seen.some((other) => isSameKey(one, other))) seen.push(one);
      // In the moment of an exec a process shows no environment: only two scans in a row prove that none is left.
      if (leftMs() <= 0 || (found.length === 0 && wasEmpty)) return found;
      wasEmpty = found.length === 0;
      if (wasEmpty) scanMs = FIRST_SCAN_MS;
      else await act(found);
    } catch (error) {
      // `ps` may fail once: a machine that is out of processes has some again when the first have ended.
      if (leftMs() <= 0) throw error;
      wasEmpty = false;
    }
    await sleep(clock, Math.max(0, Math.min(wasEmpty ? SURE_SCAN_MS : scanMs, leftMs())));
  }
}

/** The wrapper goes last: it reports how the program ended, and the reader of the terminal then ends it. */
function withoutWrapper(found: readonly ProcessInfo[], pid: Pid | undefined): readonly ProcessInfo[] {
  const others = found.filter((one) => one.pid !== pid);
  return others.length > 0 ? others : found;
}
