// Pure: selects the processes of a task from a process table, without those that must never be signalled.
import { checkMark } from './mark-variable.js';
import type { Pid } from './pid.js';
import {
  isSameKey,
  startedBefore,
  type MarkedProcess,
  type ProcessInfo,
  type ProcessKey,
} from './process-info.js';

/** How the processes of a task are recognized. */
export interface Family {
  /** The first process, which leads the session and the process group. Undefined when only the mark is known. */
  readonly pid?: Pid | undefined;
  /** The secret in the environment of every process of the task, see MARK_VARIABLE. */
  readonly mark: string;
  /** The `startId` of the process that made the mark: nothing of the task can have started earlier. */
  readonly startedSince?: string | undefined;
  /** Processes found in an earlier table: the parent that linked them to the task may have ended. */
  readonly known?: readonly ProcessKey[];
}

/**
 * The living processes of a task: those that carry its mark, those in the session or group of its first process, and the
 * descendants of all of these. Session and group count only while they hold a marked process, or while this process has just
 * started the first one, because their number may have been reused by a stranger. A process does not descend from a parent that
 * started after it: a debugger adopts the process it is attached to. Processes that `mayBeSignalled` excludes are never returned,
 * nor those that descend from these alone.
 */
export function selectDescendants(
  all: readonly MarkedProcess[],
  { pid, mark, startedSince, known = [] }: Family,
  self: Pid,
): MarkedProcess[] {
  const candidates = mayBeSignalled(all, self, startedSince);
  const marks = [mark, checkMark(mark)];
  const isMarked = (one: MarkedProcess): boolean =>
    mark !== '' && one.mark !== undefined && marks.includes(one.mark);
  const belongs = (one: MarkedProcess): boolean =>
    pid !== undefined && (one.pid === pid || one.group === pid || one.session === pid);
  const family = candidates.filter(belongs);
  const ownMark = all.find((one) => one.pid === self)?.mark;
  // Before its exec the first process shows the environment of this process, or none; on a Mac a shell shows none at all.
  const isBeingStarted =
    family.some((one) => one.pid === pid && one.parentPid === self) &&
    family.every((one) => one.mark === undefined || one.mark === ownMark);
  // The group of this process or of one of its ancestors is never a task's.
  const isOurs =
    pid !== undefined && !ancestorsOf(all, self).has(pid) && (family.some(isMarked) || isBeingStarted);
  const chosen = new Map<Pid, MarkedProcess>();
  for (const one of candidates) {
    if (isMarked(one) || (isOurs && belongs(one)) || known.some((other) => isSameKey(one, other)))
      chosen.set(one.pid, one);
  }
  for (let grew = true; grew;) {
    const before = chosen.size;
    for (const one of candidates) if (isChildOfOne(one, chosen)) chosen.set(one.pid, one);
    grew = chosen.size > before;
  }
  return [...chosen.values()];
}

/** The living processes with one of the marks. */
export function selectMarked(
  all: readonly MarkedProcess[],
  marks: ReadonlySet<string>,
  self: Pid,
  startedSince?: string,
): MarkedProcess[] {
  return mayBeSignalled(all, self, startedSince).filter(({ mark }) => mark !== undefined && marks.has(mark));
}

/**
 * The processes that may be signalled: not the first process of the system, not this process or its ancestors, and none that
 * certainly started before `startedSince`.
 */
export function mayBeSignalled<T extends ProcessInfo>(
  all: readonly T[],
  self: Pid,
  startedSince?: string,
): T[] {
  const ancestors = ancestorsOf(all, self);
  return all.filter(
    ({ pid, startId }) =>
      pid > 1 && !ancestors.has(pid) && (startedSince === undefined || !startedBefore(startId, startedSince)),
  );
}

function isChildOfOne(one: ProcessInfo, chosen: ReadonlyMap<Pid, ProcessInfo>): boolean {
  const parent = one.parentPid === undefined ? undefined : chosen.get(one.parentPid);
  return parent !== undefined && !startedBefore(one.startId, parent.startId);
}

/** The process itself and its ancestors, as far as the table shows them; nearest first. */
export function ancestorsOf(
  all: readonly { readonly pid: number; readonly parentPid: number | undefined }[],
  self: number,
): ReadonlySet<number> {
  const parents = new Map(all.map((one) => [one.pid, one.parentPid]));
  const found = new Set<number>();
  for (let pid: number | undefined = self; pid !== undefined && !found.has(pid); pid = parents.get(pid)) {
    found.add(pid);
  }
  return found;
}

/**
 * Ends all processes with the mark and their descendants, and resolves with their number. `startedSince` as in Family: the start
 * of the keeper that made the mark, if known.
 */
export type EndMarked = (mark: string, startedSince?: string) => Promise<number>;
