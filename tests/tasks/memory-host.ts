import { Emitter } from '../../src/base/lifecycle.js';
import { writeJsonFileAtomically } from '../../src/base/files/json-file.js';
import { ownIdentity } from '../../src/store/process-identity.js';
import { type Lock, releaseLease } from '../../src/store/project-lock.js';
import type { StateDir } from '../../src/store/state-dir.js';
import { initialRecord } from '../../src/tasks/record/initial-record.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import type { KeptTaskName, TaskHost, TaskLink } from '../../src/tasks/task-host.js';
import type { TaskSpec } from '../../src/tasks/task-spec.js';
import { TaskUnreachable } from '../../src/tasks/task-refusals.js';

/** Tasks without processes: each holds its project and runs until it is told to end. */
export class MemoryHost implements TaskHost {
  /** Ids in the order in which they were started. */
  readonly launched: string[] = [];
  /** Ends the task instead of answering, as a keeper does that goes away at that moment. */
  endsWhenAsked = false;
  /** What becomes of connections: made, never answered, or refused by the system; the task ends first with `endsWhenAsked`. */
  connects: 'made' | 'unanswered' | 'refused' = 'made';
  readonly #stateDir: StateDir;
  readonly #running = new Map<string, { record: TaskRecord; readonly path: string | undefined }>();
  readonly #changes = new Emitter<TaskRecord>();

  constructor(stateDir: StateDir) {
    this.#stateDir = stateDir;
  }

  async launch(spec: TaskSpec, lease?: Lock): Promise<TaskRecord> {
    const owner = await ownIdentity();
    const { project_path: projectPath, task_id: taskId } = spec;
    const path = await lease?.handTo(owner);
    const fresh = initialRecord({
      spec,
      prompt: 'Do it.',
      owner,
      mark: taskId,
      socketPath: '',
      files: { logFile: `${projectPath}/log`, promptFile: `${projectPath}/prompt` },
    });
    const record: TaskRecord = { ...fresh, status: 'running', reason: 'It runs.', change_seq: 2 };
    this.#running.set(taskId, { record, path });
    this.launched.push(taskId);
    await writeJsonFileAtomically(this.#stateDir.recordFile(taskId), record);
    this.#stateDir.noteChange(taskId, false);
    return record;
  }

  async end(taskId: string, status: 'completed' | 'killed', reason: string): Promise<TaskRecord> {
    const running = this.#running.get(taskId);
    if (running === undefined) throw new Error(`${taskId} does not run`);
    this.#running.delete(taskId);
    const record: TaskRecord = { ...running.record, status, reason, last_output: 'Bye.', change_seq: 3 };
    if (running.path !== undefined) releaseLease(running.path);
    await writeJsonFileAtomically(this.#stateDir.recordFile(taskId), record);
    this.#stateDir.noteChange(taskId, true);
    this.#changes.fire(record);
    return record;
  }

  async connect({ task_id }: KeptTaskName): Promise<TaskLink | undefined> {
    const running = this.#running.get(task_id);
    if (running === undefined) return undefined;
    if (this.connects !== 'made') {
      if (this.endsWhenAsked) await this.end(task_id, 'completed', 'Done.');
      if (this.connects === 'refused') throw new TaskUnreachable(task_id, 'connect EAGAIN');
      return undefined;
    }
    const refuse = () => Promise.reject(new Error('not asked of this host'));
    const goAway = async (): Promise<never> => {
      if (!this.endsWhenAsked) return refuse();
      await this.end(task_id, 'completed', 'Done.');
      throw new TaskUnreachable(task_id, 'its keeper went away');
    };
    const onRecord: TaskLink['onRecord'] = (listener) => {
      // As a keeper does, it says how the task is when somebody connects.
      setImmediate(() => listener(this.#running.get(task_id)?.record ?? running.record));
      return this.#changes.event((record) => (record.task_id === task_id ? listener(record) : undefined));
    };
    return {
      onRecord,
      respond: refuse,
      message: goAway,
      kill: (reason) => (this.endsWhenAsked ? goAway() : this.end(task_id, 'killed', reason)),
      screen: goAway,
      dispose: () => undefined,
    };
  }
}
