import { MARK_VARIABLE } from './mark-variable.js';
import { processSource } from './process-source.js';

/** A process as far as it matters for what runs around another. */
export interface MarkedParent {
  readonly pid: number;
  readonly parentPid: number | undefined;
  readonly mark: string | undefined;
}

/**
 * The marks of tasks in this process's environment and in those of the processes above it, nearest first, each once. A
 * program that was started without the variable is found by what is above it, as long as that lives. Pure.
 */
export function marksAround(
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

/** `marksAround` for this process, from the system's table of processes. Rejects when that cannot be read. */
export async function findMarksAround(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const own = env[MARK_VARIABLE];
  return marksAround(own === '' ? undefined : own, await processSource.markedTable(), process.pid);
}
