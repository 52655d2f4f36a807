// Pure: which processes of a table belong to a task, and which are never signalled.
import type { Pid } from './pid.js';
import {
  isSameKey,
  startedBefore,
  type MarkedProcess,
  type ProcessInfo,
  type ProcessKey,
} from './process-info.js';

/** By what the processes of a task are known. */
export interface Family {
  /** The first process: it leads the session and the process group. Undefined where the mark alone is known. */
  readonly pid?: Pid | undefined;
  /** The secret that every process of the task carries, see MARK_VARIABLE. */
  readonly mark: string;
  /** A `startId` before which nothing of the task can have started: the start of what made the mark. */
  readonly startedSince?: string | undefined;
  /** What belonged to it when the table was read before: the parent that showed it may be gone by now. */
  readonly known?: readonly ProcessKey[];
}

/**
 * The living processes of a task: those that carry its mark, the session and group of its first process, and the
 * descendants of all of these. Session and group count only while something marked belongs to them, because the number may
 * have been given to a stranger since. A process is no descendant of a parent that started after it: a debugger adopts what
 * it is attached to. What `mayBeSignalled` leaves out is never in the answer, nor what descends from it alone.
 */
export function selectDescendants(
  all: readonly MarkedProcess[],
  { pid, mark, startedSince, known = [] }: Family,
  self: Pid,
): MarkedProcess[] {
  const candidates = mayBeSignalled(all, self, startedSince);
  const isMarked = (one: MarkedProcess): boolean => mark !== '' && one.mark === mark;
  const belongs = (one: MarkedProcess): boolean =>
    pid !== undefined && (one.pid === pid || one.group === pid || one.session === pid);
  // A group that this process is in, or that it was started from, is no task's.
  const isOurs =
    pid !== undefined &&
    !ancestorsOf(all, self).has(pid) &&
    candidates.some((one) => isMarked(one) && belongs(one));
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

/** The living processes that carry one of the marks. */
export function selectMarked(
  all: readonly MarkedProcess[],
  marks: ReadonlySet<string>,
  self: Pid,
  startedSince?: string,
): MarkedProcess[] {
  return mayBeSignalled(all, self, startedSince).filter(({ mark }) => mark !== undefined && marks.has(mark));
}

/**
 * Those that a signal may be meant for: never the first process of the system, this process, an ancestor of it, and nothing
 * that certainly started before `startedSince`.
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

/** The process itself and its ancestors, as far as the table shows them. */
function ancestorsOf(all: readonly ProcessInfo[], self: Pid): ReadonlySet<Pid> {
  const parents = new Map(all.map((one) => [one.pid, one.parentPid]));
  const found = new Set<Pid>();
  for (let pid: Pid | undefined = self; pid !== undefined && !found.has(pid); pid = parents.get(pid)) {
    found.add(pid);
  }
  return found;
}

/**
 * Ends all that carries the mark, and what descends from it; resolves with how much that was. `startedSince` as in Family:
 * the start of the keeper that made the mark, where it is known.
 */
export type EndMarked = (mark: string, startedSince?: string) => Promise<number>;
