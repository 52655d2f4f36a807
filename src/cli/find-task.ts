import { BridgeError } from '../base/errors.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';

/** What is looked through. */
export interface TaskShelf {
  /** Ids of all tasks, newest first. */
  ids(): Promise<string[]>;
  /** Undefined for one that cannot be read. */
  read(taskId: string): Promise<TaskRecord | undefined>;
}

const MAX_NAMED = 8;

/**
 * The task of an id or of the beginning of one (with or without `task_`); without, the only one that runs. Throws
 * TASK_NOT_FOUND or INVALID_ARGUMENTS, naming what could be meant.
 */
export async function findTask(shelf: TaskShelf, given: string | undefined): Promise<TaskRecord> {
  const ids = await shelf.ids();
  if (given === undefined) return onlyRunning(await readAll(shelf, ids));
  const prefix = given.startsWith('task_') ? given : `task_${given}`;
  const meant = ids.filter((id) => id.startsWith(prefix));
  const [first, ...others] = meant;
  if (first === undefined) {
    throw new BridgeError(
      'TASK_NOT_FOUND',
      `No task has an id that begins with '${given.slice(0, 40)}'.`,
      'claude-code-bridge tasks list names them.',
    );
  }
  if (others.length > 0) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `'${given.slice(0, 40)}' begins the ids of ${meant.length} tasks: ${meant.slice(0, MAX_NAMED).join(', ')}.`,
      'Give more of the id.',
    );
  }
  const record = await shelf.read(first);
  if (record !== undefined) return record;
  throw new BridgeError(
    'TASK_NOT_FOUND',
    `The record of ${first} cannot be read.`,
    'claude-code-bridge tasks list names the tasks that can.',
  );
}

function onlyRunning(records: readonly TaskRecord[]): TaskRecord {
  const running = records.filter(({ status }) => !isFinal(status));
  const [first, ...others] = running;
  if (first !== undefined && others.length === 0) return first;
  throw new BridgeError(
    first === undefined ? 'TASK_NOT_FOUND' : 'INVALID_ARGUMENTS',
    first === undefined
      ? 'No task runs.'
      : `${running.length} tasks run: ${running
          .slice(0, MAX_NAMED)
          .map(({ task_id, project_path }) => `${task_id} (${project_path})`)
          .join(', ')}.`,
    first === undefined ? 'claude-code-bridge tasks list names those that ran.' : 'Name one.',
  );
}

async function readAll(shelf: TaskShelf, ids: readonly string[]): Promise<TaskRecord[]> {
  const records = await Promise.all(ids.map((id) => shelf.read(id)));
  return records.filter((record) => record !== undefined);
}
