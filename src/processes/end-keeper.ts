import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { StuckKeeper } from '../store/stuck-keeper.js';
import type { ProcessRecord } from './process-record.js';

/** PROCESS_UNREACHABLE: the process runs, as far as is known, and its keeper does not answer. `why` completes "cannot be reached: …". */
export function processUnreachable(
  id: string,
  why: string,
  hint = 'kill still ends it; ps shows its state.',
): BridgeError {
  return new BridgeError('PROCESS_UNREACHABLE', `The process ${id} cannot be reached: ${why}.`, hint);
}

/**
 * Ends the keeper of a process that does not answer: one that was halted goes on, ends its process and leaves; any other is
 * killed. Throws PROCESS_UNREACHABLE for one that may not be signalled, that the kernel holds, or that is not surely the keeper.
 */
export async function endKeeper(
  { process_id: id, owner }: Pick<ProcessRecord, 'process_id' | 'owner'>,
  clock: Clock,
): Promise<void> {
  const hint = `End process ${owner.pid} by hand if it is one of yours; then ps gives this one its end.`;
  const keeper = new StuckKeeper({
    keeper: owner,
    clock,
    cannotEnd: (why) => processUnreachable(id, why, hint),
  });
  if (!(await keeper.wake()) || (await keeper.leaves())) return;
  await keeper.kill();
}
