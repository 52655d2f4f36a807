import { selectDescendants, type Family } from './choose-processes.js';
import { MARK_VARIABLE } from './mark-variable.js';
import type { MarkedProcess } from './process-info.js';
import { processSource } from './process-source.js';
import { thisMachine, type ProcessSystem } from './process-system.js';

/** The living processes of a task, see `selectDescendants`. Rejects when the system does not list its processes. */
export async function findDescendants(
  family: Family,
  system: ProcessSystem = thisMachine,
): Promise<MarkedProcess[]> {
  return selectDescendants(await system.source.markedTable(family.startedSince), family, system.self);
}

/** The marks and command lines of all processes on this machine, as far as they are visible. */
export interface RunningMarks {
  readonly marks: ReadonlySet<string>;
  /** All command lines as one string: that of a keeper holds its task's id. */
  readonly commands: string;
}

/** Rejects when the system does not list its processes. */
export async function runningMarks(): Promise<RunningMarks> {
  const all = await processSource.markedTable();
  return {
    marks: new Set(all.flatMap(({ mark }) => mark ?? [])),
    commands: await processSource.commandLines(),
  };
}

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
