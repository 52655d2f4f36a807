import { selectDescendants, type Family } from './choose-processes.js';
import { MARK_VARIABLE, taskMark } from './mark-variable.js';
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
    marks: new Set(all.flatMap(({ mark }) => (mark === undefined ? [] : taskMark(mark)))),
    commands: await processSource.commandLines(),
  };
}

/**
 * The marks of the tasks inside which this process runs: from its own environment and those of its ancestors, nearest first, each
 * once. A program that lost the variable is still found while an ancestor with it lives. Rejects when the system does not list its
 * processes.
 */
export async function findEnclosingMarks(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const found = await processSource.lineage(thisMachine.self);
  const marks = [env[MARK_VARIABLE], ...found.map(({ mark }) => mark)];
  const named = marks.filter((mark): mark is string => (mark ?? '') !== '');
  return [...new Set(named.map(taskMark))];
}
