import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, type Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { createSecret } from '../../base/ids.js';
import type { Logger } from '../../base/logger.js';
import { FileLocks } from '../../store/file-locks.js';
import { isSameHolder, readLock, type LockHolder } from '../../store/lock-file.js';
import { ownIdentity } from '../../store/process-identity.js';
import type { StateDir } from '../../store/state-dir.js';

const CLAIM = 'record.claim';
const LOOK_INTERVAL_MS = 50;

export interface RecordClaimParts {
  readonly stateDir: Pick<StateDir, 'path' | 'taskDir'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The right to write the record of a task whose keeper does not write it any more. */
export interface RecordClaim {
  /** False when another process has taken it from this one, which it took for gone. */
  isOurs(): Promise<boolean>;
}

/**
 * Runs `act` while no other process writes the task's record in its keeper's place. `whileBusy` is asked while another
 * one does: what it gives is the answer, without `act`. Throws STATE_UNUSABLE when the other one does not end within `limitMs`, or the
 * disk takes no claim.
 */
export async function withRecordClaim<T>(
  taskId: string,
  { stateDir, clock, logger }: RecordClaimParts,
  {
    limitMs,
    act,
    whileBusy,
  }: {
    readonly limitMs: number;
    readonly act: (claim: RecordClaim) => Promise<T>;
    readonly whileBusy: () => Promise<T | undefined>;
  },
): Promise<T> {
  const folder = stateDir.taskDir(taskId);
  const path = join(folder, CLAIM);
  const files = new FileLocks({
    statePath: stateDir.path,
    clock,
    onCorrupt: (corrupt) => logger.error('a claim could not be read', { ...corrupt }),
  });
  const since = new Date(clock.now()).toISOString();
  // A name of its own: two claims of this process are two.
  const holder: LockHolder = {
    project_path: folder,
    task_id: createSecret(),
    owner: await ownIdentity(),
    since,
  };
  const untilMs = clock.monotonicMs() + limitMs;
  for (;;) {
    const busy = await files.claim(path, holder);
    if (busy === undefined) break;
    const answer = await whileBusy();
    if (answer !== undefined) return answer;
    if (clock.monotonicMs() > untilMs) throw stillBusy(taskId, path, busy);
    await sleep(clock, LOOK_INTERVAL_MS);
  }
  try {
    await files.sweep(path, holder.task_id, await readdir(folder));
    return await act({
      isOurs: async () => {
        const found = await readLock(path);
        return found.state === 'held' && isSameHolder(found.holder, holder);
      },
    });
  } finally {
    await files.release(path, holder);
  }
}

function stillBusy(taskId: string, path: string, busy: LockHolder): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `Task ${taskId} is being given its end by another process (${busy.owner.pid}) since ${busy.since}.`,
    `Call again soon. If that process was stopped, let it go on or end it; it holds ${path}.`,
  );
}
