// Pure: DelegateTask.
import { createHash } from 'node:crypto';
import { BridgeError } from '../base/errors.js';
import { farIdOf, idOn } from '../base/ids.js';
import type { AllowedPath } from '../projects/allowed-roots.js';
import { isFinal, isNative, type TaskRecord } from './task.js';
import type { TaskService } from './task-service.js';
import type { TaskSpec } from './task-spec.js';

/** As the delegation's specification bounds a prompt. */
export const MAX_DELEGATED_CHARS = 4_000;
/** The longest line of a log that is shown by line; more lines than asked for are never read. */
const LINE_BYTES = 400;
const MAX_LOG_BYTES = 400_000;

/** The number that the specification of DelegateTask names; Claude Code does not read the variable. */
const MAX_TOKENS = 100_000;
/** Ends the ids of tasks in the form of a UUID: 80 bits of it are the task's. */
const FILL = '0'.repeat(10);

export interface DelegationOptions {
  readonly tasks: Pick<TaskService, 'start' | 'get' | 'list' | 'kill' | 'output'>;
  /** Those of this machine, where `tasks` knows others, too. */
  readonly here?: Pick<TaskService, 'start' | 'list'>;
  /** Checks a directory, or the active project when none is given. */
  readonly project: { resolve(path?: string): Promise<AllowedPath> };
  /** The names of other machines, whose tasks `tasks` knows, too. */
  readonly machines?: readonly string[];
  /** Tasks that may run at once before `delegate` refuses another. */
  readonly maxRunning: number;
}

/** Tasks in the words of DelegateTask: one at a time, known by UUIDs, and "the current one" where none is named. */
export class Delegation {
  readonly #options: DelegationOptions;
  #starting: Promise<unknown> = Promise.resolve();

  constructor(options: DelegationOptions) {
    this.#options = options;
  }

  /** Throws INVALID_PROMPT, TASK_ALREADY_RUNNING with the id of the running task, and what TaskService.start throws. */
  async delegate(prompt: string, path?: string): Promise<TaskRecord> {
    // One start after another: two calls at once must not both find that nothing runs.
    const started = this.#starting.then(() => this.#start(prompt, path));
    this.#starting = started.catch(() => undefined);
    return started;
  }

  /** The task named, else of those that `delegate` started the newest that runs, else the newest. Throws TASK_NOT_FOUND. */
  async task(uuid?: string): Promise<TaskRecord> {
    const { tasks } = this.#options;
    if (uuid !== undefined) {
      const taskId = taskIdOfUuid(uuid, this.#options.machines);
      if (taskId !== undefined) return tasks.get(taskId);
      throw notFound(`No task has the id ${uuid}.`);
    }
    const [running] = (await tasks.list({ delegated: true, status: 'active', limit: 1 })).tasks;
    const newest = running ?? (await tasks.list({ delegated: true, limit: 1 })).tasks[0];
    if (newest !== undefined) return newest;
    throw notFound('No task has been delegated yet.');
  }

  /** The last lines of what the task printed, stdout and stderr as they came. Throws TASK_NOT_FOUND. */
  async logs(uuid: string, tail: number): Promise<{ lines: string[]; totalBytes: number }> {
    const { task_id } = await this.task(uuid);
    const { text, totalBytes = 0 } = await this.#options.tasks.output({
      taskId: task_id,
      view: 'log',
      maxBytes: Math.min(MAX_LOG_BYTES, tail * LINE_BYTES),
    });
    const lines = text.replace(/\n$/, '').split('\n');
    return { lines: text === '' ? [] : lines.slice(-tail), totalBytes };
  }

  /** Resolves when every process of the task is gone. Throws TASK_NOT_FOUND, TASK_NOT_RUNNING. */
  async cancel(uuid: string, reason = 'Cancelled by CancelTask.'): Promise<TaskRecord> {
    const record = await this.task(uuid);
    if (!isFinal(record.status)) return this.#options.tasks.kill(record.task_id, reason);
    throw new BridgeError(
      'TASK_NOT_RUNNING',
      `Task ${uuid} is not running: it is ${delegatedStatus(record)} (${record.reason}).`,
      'Nothing was changed. TaskStatus shows what it did.',
    );
  }

  async #start(prompt: string, path: string | undefined): Promise<TaskRecord> {
    const { here: tasks = this.#options.tasks, project, maxRunning } = this.#options;
    const folder = await project.resolve(path);
    const active = (await tasks.list({ status: 'active' })).tasks;
    const running = active.filter((record) => !isNative(record));
    const [first] = running;
    if (first === undefined || running.length < maxRunning)
      return tasks.start({ prompt, path: folder, driver: 'print', delegated: true });
    const taskId = uuidOfTask(first.task_id);
    const doing = first.activity === '' ? '' : ` (${first.activity})`;
    throw new BridgeError(
      'TASK_ALREADY_RUNNING',
      `Task already running: ${taskId} in ${first.project_path}${doing}.`,
      'Follow it with TaskStatus, end it with CancelTask, or allow more at once with the setting delegate_max_running.',
      { data: { taskId } },
    );
  }
}

/**
 * A task's id as callers of DelegateTask know it: `task_` and 20 digits, cut where a UUID of version 4 has its marks. The last ten digits
 * are those of its machine.
 */
export function uuidOfTask(taskId: string): string {
  const { machine, id } = farIdOf(taskId) ?? { machine: undefined, id: taskId };
  return id.replace(/^task_(.{8})(.{4})(...)(...)(..)$/, `$1-$2-4$3-8$4-$5${fillOf(machine)}`);
}

/** The task's id, or undefined for a UUID that no task has. `machines`: the names of those that may have it. */
export function taskIdOfUuid(uuid: string, machines: readonly string[] = []): string | undefined {
  const id = uuid.replace(/^(.{8})-(.{4})-.(...)-.(...)-(..).*$/, 'task_$1$2$3$4$5');
  return [id, ...machines.map((name) => idOn(name, id))].find((taskId) => uuidOfTask(taskId) === uuid);
}

function fillOf(machine: string | undefined): string {
  return machine === undefined
    ? FILL
    : createHash('sha256').update(machine).digest('hex').slice(0, FILL.length);
}

/** The variables that the program of a task of DelegateTask gets; none for other tasks. */
export function delegatedEnvironment({
  delegated,
  task_id,
  timeout_seconds,
}: Pick<TaskSpec, 'delegated' | 'task_id' | 'timeout_seconds'>): Readonly<Record<string, string>> {
  if (delegated !== true) return {};
  return {
    CLAUDE_CODE_TASK_ID: uuidOfTask(task_id),
    CLAUDE_CODE_TIMEOUT: String(timeout_seconds * 1_000),
    CLAUDE_CODE_MAX_TOKENS: String(MAX_TOKENS),
  };
}

export type DelegatedStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';

export function delegatedStatus({ status }: TaskRecord): DelegatedStatus {
  if (status === 'pending') return 'queued';
  if (!isFinal(status)) return 'running';
  if (status === 'completed') return 'completed';
  return status === 'killed' ? 'cancelled' : 'failed';
}

function notFound(message: string): BridgeError {
  return new BridgeError('TASK_NOT_FOUND', message, 'DelegateTask gives the id of the task that it starts.');
}
