import type { Pid } from './pid.js';
import type { ProcessInfo } from './process-info.js';

type Find = (pids: readonly Pid[]) => Promise<ProcessInfo[]>;

/**
 * Batches the calls of one event loop iteration into one call of `find`, which starts a program: checking all locks asks for the
 * owner of each. All calls of a batch share its error.
 */
export function sharedFinds(find: Find): Find {
  let next: { readonly pids: Set<Pid>; readonly found: Promise<ProcessInfo[]> } | undefined;
  const begin = () => {
    const pids = new Set<Pid>();
    const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      next = undefined;
      return find([...pids]);
    });
    return { pids, found };
  };
  return async (pids) => {
    if (pids.length === 0) return [];
    next ??= begin();
    for (const pid of pids) next.pids.add(pid);
    const found = await next.found;
    return found.filter(({ pid }) => pids.includes(pid));
  };
}
