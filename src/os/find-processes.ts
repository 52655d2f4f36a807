import { selectDescendants, type Family } from './choose-processes.js';
import type { MarkedProcess } from './process-info.js';
import { thisMachine, type ProcessSystem } from './process-system.js';

/** The living processes of a task, see `selectDescendants`. Rejects when the system does not list its processes. */
export async function findDescendants(
  family: Family,
  system: ProcessSystem = thisMachine,
): Promise<MarkedProcess[]> {
  return selectDescendants(await system.source.markedTable(family.startedSince), family, system.self);
}
