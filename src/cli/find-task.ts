import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';

/** The tasks to search. */
export interface TaskShelf {
  /** Ids of all tasks, newest first. */
  ids(): Promise<string[]>;
  /** Undefined for one that cannot be read. */
  read(taskId: string): Promise<TaskRecord | undefined>;
}

/** What every id begins with: it names no task. */
const PREFIX = 'task_';
const MAX_NAMED = 8;
const MAX_PATH_CHARS = 200;

/**
 * The task of an id or of the beginning of one (with or without `task_`); without, the only one that runs. Throws
 * TASK_NOT_FOUND or INVALID_ARGUMENTS, with the candidates. `command` is how a person runs this program.
 */
export async function findTask(
  shelf: TaskShelf,
  given: string | undefined,
  command: string,
): Promise<TaskRecord> {
  const ids = await shelf.ids();
  if (given === undefined) return onlyRunning(await readAll(shelf, ids), command);
  const prefix = given.startsWith(PREFIX) ? given : `${PREFIX}${given}`;
  if (prefix === PREFIX) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'The id of the task is empty.',
      `Write the beginning of an id at least. ${command} tasks list lists all tasks.`,
    );
  }
  const matching = ids.filter((id) => id.startsWith(prefix));
  const [first, ...others] = matching;
  if (first === undefined) {
    throw new BridgeError(
      'TASK_NOT_FOUND',
      `No task id starts with '${given.slice(0, 40)}'.`,
      `${command} tasks list lists all tasks.`,
    );
  }
  if (others.length > 0) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${matching.length} task ids start with '${given.slice(0, 40)}': ${named(matching)}.`,
      'Use more of the id.',
    );
  }
  const record = await shelf.read(first);
  if (record !== undefined) return record;
  throw new BridgeError(
    'TASK_NOT_FOUND',
    `The record of ${first} cannot be read.`,
    `${command} tasks list lists the tasks that can be read.`,
  );
}

function onlyRunning(records: readonly TaskRecord[], command: string): TaskRecord {
  const running = records.filter(({ status }) => !isFinal(status));
  const [first, ...others] = running;
  if (first !== undefined && others.length === 0) return first;
  throw new BridgeError(
    first === undefined ? 'TASK_NOT_FOUND' : 'INVALID_ARGUMENTS',
    first === undefined
      ? 'There are no running tasks.'
      : `${running.length} tasks are running: ${named(
          running.map(({ task_id, project_path }) => `${task_id} (${oneLine(project_path, MAX_PATH_CHARS)})`),
        )}.`,
    first === undefined ? `${command} tasks list lists the finished ones.` : 'Pass the id of one.',
  );
}

function named(texts: readonly string[]): string {
  return [...texts.slice(0, MAX_NAMED), ...(texts.length > MAX_NAMED ? ['…'] : [])].join(', ');
}

async function readAll(shelf: TaskShelf, ids: readonly string[]): Promise<TaskRecord[]> {
  const records = await Promise.all(ids.map((id) => shelf.read(id).catch(ignoreUnreadable)));
  return records.filter((record) => record !== undefined);
}

/** One that cannot be read, or that was just removed, hides no other. */
function ignoreUnreadable(error: unknown): undefined {
  if (!(error instanceof BridgeError)) throw error;
  if (error.code !== 'STATE_UNUSABLE' && error.code !== 'TASK_NOT_FOUND') throw error;
}
