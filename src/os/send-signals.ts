import type { ChildProcess } from 'node:child_process';
import { mayBeSignalled } from './choose-processes.js';
import { pidOf, type Pid } from './pid.js';
import { isSameKey, type ProcessKey } from './process-info.js';
import { kill, thisMachine, type Delivery, type ProcessSystem } from './process-system.js';
import { isPidInUse } from './pid-in-use.js';

/** `spared`: not signalled, as it is this process, one of its ancestors, or the first process of the system. */
export type SignalResult = Delivery | 'spared';

/**
 * Sends the signals, in order, to each of the processes that still runs: the table is read directly before, and a process with the
 * same pid but another start is a stranger. Returns the result of the first signal for each process, in the same order. Rejects
 * without a signal when the system does not list its processes.
 */
export async function signalProcesses(
  chosen: readonly ProcessKey[],
  names: readonly NodeJS.Signals[],
  system: ProcessSystem = thisMachine,
): Promise<SignalResult[]> {
  if (chosen.length === 0) return [];
  const all = await system.source.table();
  const allowed = mayBeSignalled(all, system.self);
  return chosen.map((one) => {
    if (!all.some((now) => isSameKey(now, one))) return 'gone';
    if (!allowed.some((now) => isSameKey(now, one))) return 'spared';
    const [first = 'gone'] = names.map((name) => system.send(one.pid, name));
    return first;
  });
}

/** A child of this process that leads its own group. Its pid cannot be reused until it is reaped. */
export interface OwnChild {
  /** Undefined when it could not be started. */
  readonly pid: Pid | undefined;
  /** This process was notified of its end: the number may already belong to another process. */
  readonly isReaped: boolean;
}

/** False when it has ended. */
export function signalChild({ pid, isReaped }: OwnChild, name: NodeJS.Signals): boolean {
  return pid !== undefined && pid > 1 && !isReaped && kill(pid, name) === 'sent';
}

/**
 * Signals the process group of a child that was started as its leader. After the leader was reaped, only while no process has its
 * pid: as long as the group has members, the kernel does not reuse its number.
 */
export function signalChildGroup({ pid, isReaped }: OwnChild, name: NodeJS.Signals): boolean {
  if (pid === undefined || pid <= 1 || (isReaped && isPidInUse(pid))) return false;
  return kill(-Number(pid), name) === 'sent';
}

/** The same for a child of Node's own that was started `detached`. */
export function signalGroupOf(child: ChildProcess, name: NodeJS.Signals): boolean {
  const isReaped = child.exitCode !== null || child.signalCode !== null;
  return signalChildGroup({ pid: pidOf(child.pid), isReaped }, name);
}
