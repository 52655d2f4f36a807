import type { EndMarked } from '../../os/choose-processes.js';
import type { TaskRecord } from '../task.js';

export interface LeftoverParts {
  readonly endMarked: EndMarked;
}

/**
 * Ends what a task without a keeper left running, and resolves with the number of processes. Rejects when the system does not list its
 * processes.
 */
export async function endLeftovers(
  { process_mark, keeper }: TaskRecord,
  { endMarked }: LeftoverParts,
): Promise<number> {
  return endMarked(process_mark, keeper?.start_time ?? undefined);
}
