import { BridgeError } from '../base/errors.js';
import { ancestorsOf } from '../os/choose-processes.js';
import { processSource } from '../os/process-source.js';
import type { ProcessTable } from '../os/process-table.js';
import { ownIdentity, processState } from '../store/process-identity.js';
import { isSameIdentity } from '../store/process-place.js';
import { isNative, type TaskRecord } from './task.js';

/** Claude Code gives it to all that a session starts. */
const SESSION_VARIABLE = 'CLAUDE_CODE_SESSION_ID';

/**
 * Throws NATIVE_SESSION for a process that the session of `record` started: what the session asks is answered by its person, or
 * from outside of it. It cannot hold a program that changes its environment and leaves its parents.
 */
export async function requireOutsideSession(
  record: TaskRecord,
  env: Readonly<Record<string, string | undefined>>,
  source: Pick<ProcessTable, 'table'> = processSource,
): Promise<void> {
  if (!isNative(record) || !(await isInside(record, env, source))) return;
  throw new BridgeError(
    'NATIVE_SESSION',
    `${record.task_id} is the session that this call comes from, and it neither answers its own requests nor sends itself messages.`,
    'A person answers them in its terminal or on the board, or a client outside of it does.',
  );
}

async function isInside(
  { session_id, keeper, agent }: TaskRecord,
  env: Readonly<Record<string, string | undefined>>,
  source: Pick<ProcessTable, 'table'>,
): Promise<boolean> {
  if (session_id !== null && env[SESSION_VARIABLE] === session_id) return true;
  if (keeper !== null && isSameIdentity(keeper, await ownIdentity())) return true;
  if (agent === null || (await processState(agent)) !== 'alive') return false;
  return ancestorsOf(await source.table(), process.pid).has(agent.pid);
}
