import { BridgeError } from '../../base/errors.js';
import { createSecret } from '../../base/ids.js';
import { readJsonFile } from '../../base/files/json-file.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import type { ProcessIdentity } from '../../store/process-place.js';
import type { StateDir } from '../../store/state-dir.js';
import { initialRecord } from './initial-record.js';
import { projectFilePaths } from '../project-folder.js';
import { MAX_RECORD_BYTES } from './record-file.js';
import type { TaskRecord } from '../task.js';
import { taskSpecSchema } from '../task-spec.js';

/** The mark of a task's processes in a record of which nothing else can be read. */
const MARK = /"process_mark":\s*"([0-9A-Za-z_-]{8,100})"/;

/**
 * A running task's record, from what the task was asked to do and who keeps it, where its own cannot be read. Throws
 * STATE_UNUSABLE when its spec cannot be read either.
 */
export async function rebuiltRecord(
  taskId: string,
  owner: ProcessIdentity,
  { stateDir, clock }: { readonly stateDir: StateDir; readonly clock: { now(): number } },
): Promise<TaskRecord> {
  const file = await readJsonFile(stateDir.specFile(taskId), taskSpecSchema);
  if (file.state !== 'ok') {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `Neither the record nor the spec of ${taskId} can be read, so what it has left behind is not known.`,
      `End process ${owner.pid}, which keeps it, by hand.`,
    );
  }
  const spec = file.value;
  const home = spec.worktree?.project_path ?? spec.project_path;
  const fresh = initialRecord({
    spec,
    prompt: await textOf(stateDir.promptFile(taskId)),
    owner,
    // One that no process carries, where the record does not tell it.
    mark: MARK.exec(await textOf(stateDir.recordFile(taskId)))?.[1] ?? createSecret(),
    socketPath: '',
    files: projectFilePaths(home, taskId),
    now: clock.now(),
  });
  return { ...fresh, status: 'running', reason: 'Its record could not be read.' };
}

async function textOf(path: string): Promise<string> {
  try {
    const file = await readRegularFile(path, MAX_RECORD_BYTES);
    return file.state === 'ok' ? file.bytes.toString('utf8') : '';
  } catch {
    // What is not there says nothing; the record is made without it.
    return '';
  }
}
