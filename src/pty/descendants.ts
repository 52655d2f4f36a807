import { listProcesses, type ListedProcess, type ProcessInfo, type ProcessQuery } from './list-processes.js';

/** The living processes that carry the mark in their environment, wherever they have gone. Never this process. */
export async function findMarked(mark: string): Promise<ProcessInfo[]> {
  return (await listProcesses({ mark })).filter((one) => one.isMarked && one.pid !== process.pid);
}

/**
 * The living processes of a task: those that carry its mark, the session and group of its terminal, and the descendants of
 * all of these. `pid` is the terminal's first process; it counts only while something marked still belongs to it, because
 * the number may have been given to a stranger since.
 */
export async function findDescendants(
  target: ProcessQuery & { readonly pid: number },
): Promise<ProcessInfo[]> {
  return selectDescendants(await listProcesses(target), target.pid, process.pid);
}

/** The choice of `findDescendants` from a list; `self` and its ancestors are never in it. */
export function selectDescendants(all: readonly ListedProcess[], pid: number, self: number): ProcessInfo[] {
  const protectedPids = ancestorsOf(all, self);
  const belongs = (one: ListedProcess) => one.pid === pid || one.group === pid || one.session === pid;
  const isOurs = all.some((one) => one.isMarked && belongs(one));
  const chosen = new Map<number, ProcessInfo>();
  for (const one of all) {
    if (one.isMarked || (isOurs && belongs(one))) chosen.set(one.pid, one);
  }
  for (let grew = true; grew;) {
    const before = chosen.size;
    for (const one of all) if (chosen.has(one.parentPid)) chosen.set(one.pid, one);
    grew = chosen.size > before;
  }
  return [...chosen.values()].filter((one) => !protectedPids.has(one.pid));
}

function ancestorsOf(all: readonly ListedProcess[], self: number): Set<number> {
  const parents = new Map(all.map((one) => [one.pid, one.parentPid]));
  const found = new Set<number>();
  for (
    let pid: number | undefined = self;
    pid !== undefined && pid > 0 && !found.has(pid);
    pid = parents.get(pid)
  ) {
    found.add(pid);
  }
  return found;
}
