// Pure.
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

/** What the commands about tasks and those about sessions call things. */
export interface ShelfWords {
  /** One of them, as in "the id of the …". */
  readonly one: string;
  readonly noneRuns: string;
  readonly severalRun: (count: number) => string;
  /** The command that lists them. */
  readonly list: string;
}

/** `command` is how a person runs this program; `native`: sessions that people started. */
export function wordsFor(command: string, native = false): ShelfWords {
  return native
    ? {
        one: 'session',
        noneRuns: 'No session of yours runs.',
        severalRun: (count) => `${count} sessions of yours run`,
        list: `${command} native list`,
      }
    : {
        one: 'task',
        noneRuns: 'There are no running tasks.',
        severalRun: (count) => `${count} tasks are running`,
        list: `${command} tasks list`,
      };
}

/** What every id begins with: it names no task. */
const PREFIX = 'task_';
const MAX_NAMED = 8;
const MAX_PATH_CHARS = 200;

/**
 * The task of an id or of the beginning of one (with or without `task_`); without, the only one that runs. Throws
 * TASK_NOT_FOUND or INVALID_ARGUMENTS, with the candidates.
 */
export async function findTask(
  shelf: TaskShelf,
  given: string | undefined,
  words: ShelfWords,
): Promise<TaskRecord> {
  const { one, list } = words;
  const ids = await shelf.ids();
  if (given === undefined) return onlyRunning(await readAll(shelf, ids), words);
  const prefix = given.startsWith(PREFIX) ? given : `${PREFIX}${given}`;
  if (prefix === PREFIX) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The id of the ${one} is empty.`,
      `Write the beginning of an id at least. ${list} lists all ${one}s.`,
    );
  }
  const matching = ids.filter((id) => id.startsWith(prefix));
  const [first, ...others] = matching;
  if (first === undefined) {
    throw new BridgeError(
      'TASK_NOT_FOUND',
      `No id of a ${one} starts with '${given.slice(0, 40)}'.`,
      `${list} lists all ${one}s.`,
    );
  }
  if (others.length > 0) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${matching.length} ids of ${one}s start with '${given.slice(0, 40)}': ${named(matching)}.`,
      'Use more of the id.',
    );
  }
  const record = await shelf.read(first);
  if (record !== undefined) return record;
  throw new BridgeError(
    'TASK_NOT_FOUND',
    `The record of ${first} cannot be read.`,
    `${list} lists the ${one}s that can be read.`,
  );
}

function onlyRunning(records: readonly TaskRecord[], words: ShelfWords): TaskRecord {
  const running = records.filter(({ status }) => !isFinal(status));
  const [first, ...others] = running;
  if (first !== undefined && others.length === 0) return first;
  throw new BridgeError(
    first === undefined ? 'TASK_NOT_FOUND' : 'INVALID_ARGUMENTS',
    first === undefined
      ? words.noneRuns
      : `${words.severalRun(running.length)}: ${named(
          running.map(({ task_id, project_path }) => `${task_id} (${oneLine(project_path, MAX_PATH_CHARS)})`),
        )}.`,
    first === undefined ? `${words.list} lists the finished ones.` : 'Pass the id of one.',
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
