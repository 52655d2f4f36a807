import { countedNoun, someNames } from '../../base/text/text.js';
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

/** `programs`: the name of each process that ran when the session was over, and was ended. */
export function leftoverWords(programs: readonly string[]): string {
  const count = countedNoun(programs.length, 'process', 'processes');
  return `Ended ${count} that still ran: ${someNames([...new Set(programs)])}`;
}
