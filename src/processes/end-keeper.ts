import type { Clock } from '../base/clock.js';
import { StuckKeeper } from '../store/stuck-keeper.js';
import type { ProcessRecord } from './process-record.js';
import { processUnreachable } from './process-unreachable.js';

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
