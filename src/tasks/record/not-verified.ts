import { BridgeError } from '../../base/errors.js';
import { linkedProcess } from '../../store/owner-state.js';
import type { StateDir } from '../../store/state-dir.js';

/** True while a process runs the checks of an ended task in a clean copy. */
export async function isVerified(stateDir: StateDir, taskId: string): Promise<boolean> {
  return (await linkedProcess(stateDir.verifierFile(taskId), stateDir.path)).state !== 'gone';
}

/** Throws TASK_ALREADY_RUNNING while a process runs the checks of an ended task in a clean copy. */
export async function requireNotVerified(stateDir: StateDir, taskId: string): Promise<void> {
  const { state, pid } = await linkedProcess(stateDir.verifierFile(taskId), stateDir.path);
  if (state === 'gone') return;
  throw new BridgeError(
    'TASK_ALREADY_RUNNING',
    `The checks of ${taskId} are run in a clean copy by process ${pid}. Nothing was changed.`,
    'Wait until it has ended, and try again.',
  );
}
