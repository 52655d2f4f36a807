import type { Clock } from '../base/clock.js';
import type { BridgeError } from '../base/errors.js';
import { isGoneWithin, signalProcess, whyNotSignalled } from '../store/signal-process.js';
import type { ProcessRecord } from './process-record.js';
import { processUnreachable } from './process-unreachable.js';

/** A keeper that goes on ends its process by signals, each of which has some seconds. */
const LADDER_LIMIT_MS = 15_000;
/** After SIGKILL only what is stuck in the kernel stays. */
const AFTER_KILL_MS = 5_000;

/**
 * Ends the keeper of a process that does not answer: one that was halted goes on, ends its process and leaves; any other is
 * killed. Throws PROCESS_UNREACHABLE for one that may not be signalled, that the kernel holds, or that is not surely the keeper.
 */
export async function endKeeper(
  { process_id: id, owner }: Pick<ProcessRecord, 'process_id' | 'owner'>,
  clock: Clock,
): Promise<void> {
  const cannotEnd = (why: string): BridgeError =>
    processUnreachable(
      id,
      why,
      `End process ${owner.pid} by hand if it is one of yours; then ps gives this one its end.`,
    );
  const steps = [
    { name: 'SIGCONT', limitMs: 0 },
    { name: 'SIGTERM', limitMs: LADDER_LIMIT_MS },
    { name: 'SIGKILL', limitMs: AFTER_KILL_MS },
  ] as const;
  for (const { name, limitMs } of steps) {
    const outcome = await signalProcess(owner, name);
    if (outcome === 'gone') return;
    const why = whyNotSignalled(outcome, owner);
    if (why !== undefined) throw cannotEnd(why);
    if (await isGoneWithin(owner, clock, limitMs)) return;
  }
  throw cannotEnd(`its keeper, process ${owner.pid}, is still there after SIGKILL`);
}
