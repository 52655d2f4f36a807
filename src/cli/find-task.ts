// Pure.
import { BridgeError } from '../base/errors.js';
import { farIdOf, idOn } from '../base/ids.js';
import { oneLine } from '../base/text.js';
import type { TaskRecord } from '../tasks/task.js';

/** The tasks to search. */
export interface TaskShelf {
  /** Ids of all tasks, newest first. */
  ids(): Promise<string[]>;
  read(taskId: string): Promise<TaskRecord>;
  /** Those that have not ended, without those that cannot be read. */
  active(): Promise<readonly TaskRecord[]>;
}

/** What the commands about tasks and those about sessions call things. */
export interface ShelfWords {
  readonly one: 'task' | 'session';
  /** The command that lists them. */
  readonly list: string;
}

/** More tasks than a state directory holds. */
export const MAX_LISTED = 10_000;
/** What every id begins with: it names no task. */
const PREFIX = 'task_';
/** The last digits of an id that name its task in tables, and wherever a task is named. */
const SHORT_DIGITS = 6;
/** Fewer digits name a task by chance. */
const FEWEST_DIGITS = 4;
const MAX_NAMED = 8;
const MAX_PATH_CHARS = 200;

/** The end of an id, which names the task in every command; of one on another machine with the name of that. */
export function shortId(taskId: string): string {
  const far = farIdOf(taskId);
  const digits = taskId.slice(-SHORT_DIGITS);
  return far === undefined ? digits : idOn(far.machine, digits);
}

/**
 * The task of an id, of the beginning of one (with or without `task_`), or of its last four digits or more, each with or without the machine
 * before it that the shelf's ids have; without, the only one that runs.
 * Throws TASK_NOT_FOUND or INVALID_ARGUMENTS, with the candidates, and STATE_UNUSABLE for a record that cannot be read.
 */
export async function findTask(
  shelf: TaskShelf,
  given: string | undefined,
  { one, list }: ShelfWords,
): Promise<TaskRecord> {
  if (given === undefined) return onlyRunning(await shelf.active(), { one, list });
  const digits = farIdOf(given)?.id ?? given;
  const prefix = digits.startsWith(PREFIX) ? digits : `${PREFIX}${digits}`;
  const isShort = prefix !== digits && digits.length >= FEWEST_DIGITS;
  const matching = (await shelf.ids()).filter((id) => {
    const bare = farIdOf(id)?.id ?? id;
    return (prefix !== PREFIX && bare.startsWith(prefix)) || (isShort && bare.endsWith(digits));
  });
  const [first, ...others] = matching;
  const shown = given.slice(0, 40);
  if (first === undefined) {
    const more = digits.length < FEWEST_DIGITS ? 'Give four digits or more; ' : '';
    const message = `No id of a ${one} begins or ends with '${shown}'.`;
    throw new BridgeError('TASK_NOT_FOUND', message, `${more}${list} lists all ${one}s.`);
  }
  if (others.length === 0) return shelf.read(first);
  const message = `'${shown}' may be ${matching.length} ${one}s: ${named(matching)}.`;
  const isOne = new Set(matching.map((id) => farIdOf(id)?.id ?? id)).size === 1;
  const hint = isOne ? 'Use one of these: they differ in the machine alone.' : 'Use more of the id.';
  throw new BridgeError('INVALID_ARGUMENTS', message, hint);
}

function onlyRunning(running: readonly TaskRecord[], { one, list }: ShelfWords): TaskRecord {
  const [first, ...others] = running;
  if (first === undefined)
    throw new BridgeError('TASK_NOT_FOUND', `No ${one} is running.`, `${list} lists the finished ones.`);
  if (others.length === 0) return first;
  const names = running.map(
    ({ task_id, project_path }) => `${shortId(task_id)} (${oneLine(project_path, MAX_PATH_CHARS)})`,
  );
  const message = `${running.length} ${one}s are running: ${named(names)}.`;
  throw new BridgeError('INVALID_ARGUMENTS', message, 'Pass the id of one.');
}

function named(texts: readonly string[]): string {
  return [...texts.slice(0, MAX_NAMED), ...(texts.length > MAX_NAMED ? ['…'] : [])].join(', ');
}
