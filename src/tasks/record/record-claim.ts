import { sleep, type Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { Mutex, type MutexHolder } from '../../store/mutex.js';
import type { StateDir } from '../../store/state-dir.js';

const CLAIM = 'record.claim';
const LOOK_INTERVAL_MS = 50;

export interface RecordClaimParts {
  readonly stateDir: Pick<StateDir, 'path' | 'taskDir'>;
  readonly clock: Clock;
}

/**
 * Runs `act` while no other process writes the task's record in its keeper's place. `whileBusy` is asked while another
 * one does: what it gives is the answer, without `act`. Throws STATE_UNUSABLE when the other one does not end within `limitMs`, or the
 * disk takes no claim.
 */
export async function withRecordClaim<T>(
  taskId: string,
  { stateDir, clock }: RecordClaimParts,
  {
    limitMs,
    act,
    whileBusy,
  }: {
    readonly limitMs: number;
    readonly act: () => Promise<T>;
    readonly whileBusy: () => Promise<T | undefined>;
  },
): Promise<T> {
  const claim = new Mutex({ folder: stateDir.taskDir(taskId), name: CLAIM, statePath: stateDir.path });
  const untilMs = clock.monotonicMs() + limitMs;
  for (;;) {
    const taken = await claim.take();
    if ('release' in taken) {
      try {
        return await act();
      } finally {
        taken.release();
      }
    }
    const answer = await whileBusy();
    if (answer !== undefined) return answer;
    if (clock.monotonicMs() > untilMs) throw stillBusy(taskId, taken.busy);
    await sleep(clock, LOOK_INTERVAL_MS);
  }
}

function stillBusy(taskId: string, { pid, since, path }: MutexHolder): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `Task ${taskId} is being given its end by another process (${pid}) since ${since}.`,
    `Call again soon. If that process was stopped, let it go on or end it; it holds ${path}.`,
  );
}
