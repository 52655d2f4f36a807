import { MARK_VARIABLE } from './mark-variable.js';
import { processSource } from './process-source.js';

/** What must be known of a process to walk up to its ancestors. */
export interface MarkedParent {
  readonly pid: number;
  readonly parentPid: number | undefined;
  readonly mark: string | undefined;
}

/**
 * The marks of the tasks inside which this process runs: from its own environment and those of its ancestors, nearest first, each
 * once. A program that lost the variable is still found while an ancestor with it lives. Pure.
 */
export function enclosingMarks(
  ownMark: string | undefined,
  processes: readonly MarkedParent[],
  self: number,
): readonly string[] {
  const known = new Map(processes.map((one) => [one.pid, one]));
  const marks = new Set<string>(ownMark === undefined ? [] : [ownMark]);
  const seen = new Set<number>();
  for (let one = known.get(self); one !== undefined && !seen.has(one.pid);) {
    seen.add(one.pid);
    if (one.mark !== undefined) marks.add(one.mark);
    one = one.parentPid === undefined ? undefined : known.get(one.parentPid);
  }
  return [...marks];
}

/** `enclosingMarks` for this process, from the system's table of processes. Rejects when that cannot be read. */
export async function findEnclosingMarks(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const own = env[MARK_VARIABLE];
  return enclosingMarks(own === '' ? undefined : own, await processSource.markedTable(), process.pid);
}
