import type { Clock } from '../../base/clock.js';
import { createSecret } from '../../base/ids.js';
import { replaceFile } from '../../base/files/atomic-file.js';
import { writeJsonFileAtomically } from '../../base/files/json-file.js';
import type { StateDir } from '../../store/state-dir.js';
import { initialRecord } from '../record/initial-record.js';
import { projectFilePaths } from '../project-folder.js';
import { standingWords, type Standing } from './queue-order.js';
import type { TaskRecord } from '../task.js';
import type { TaskSpec } from '../task-spec.js';

const OWNER_ONLY = 0o600;

interface Parts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
}

/**
 * Puts all of a queued task on disk, so that any process can start it, also after a crash of the machine; `addTicket` is
 * called when all but the record is there. Returns the record as its caller gets it.
 */
export async function persistQueued(
  { spec, prompt }: { readonly spec: TaskSpec; readonly prompt: string },
  { stateDir, clock }: Parts,
  standing: Standing,
  addTicket: () => Promise<void>,
): Promise<TaskRecord> {
  const record: TaskRecord = {
    ...initialRecord({
      spec,
      prompt,
      owner: null,
      // No process carries it: the keeper makes its own.
      mark: createSecret(),
      socketPath: '',
      files: projectFilePaths(spec.worktree?.project_path ?? spec.project_path, spec.task_id),
      now: clock.now(),
    }),
    reason: 'Queued.',
  };
  await replaceFile(stateDir.promptFile(spec.task_id), prompt, { mode: OWNER_ONLY, durable: true });
  await writeJsonFileAtomically(stateDir.specFile(spec.task_id), spec);
  await addTicket();
  // Last: a process that finds it finds the ticket, too.
  await writeJsonFileAtomically(stateDir.recordFile(spec.task_id), record);
  return asQueued(record, standing);
}

/** The record of a queued task with its place in words and as a number. */
export function asQueued(record: TaskRecord, standing: Standing): TaskRecord {
  return {
    ...record,
    reason: standingWords(standing),
    ...(standing.state === 'waits' && { queue_position: standing.place }),
  };
}

/** Writes the end of a task that no keeper has. */
export async function endQueued(
  record: TaskRecord,
  status: 'killed' | 'error',
  reason: string,
  { stateDir, clock }: Parts,
): Promise<TaskRecord> {
  const ended: TaskRecord = {
    ...record,
    status,
    status_source: 'exact',
    reason,
    activity: '',
    ended_at: new Date(clock.now()).toISOString(),
    change_seq: record.change_seq + 1,
  };
  await writeJsonFileAtomically(stateDir.recordFile(record.task_id), ended);
  return ended;
}
