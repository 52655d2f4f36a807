// Pure: one list of the tasks of several machines, in pages.
import { invalidCursor } from '../base/input.js';
import { farIdOf, idOn, TASK_ID_PATTERN } from '../base/ids.js';
import type { UnreadableTask } from '../tasks/task-service.js';
import type { TaskRecord } from '../tasks/task.js';
import { newestFirst } from './last-read.js';

/** This machine among the sources of a list. */
export const HERE = '';
/** In a cursor: nothing is left there. */
const END = 'end';
const MAX_CURSOR_CHARS = 10_000;

/** What one machine gave for a page. */
export interface Source {
  /** HERE, or the name of the machine. */
  readonly name: string;
  /** As they are known here, newest first. */
  readonly tasks: readonly TaskRecord[];
  /** There are more behind them. */
  readonly more: boolean;
  readonly unreadable?: readonly UnreadableTask[] | undefined;
  /** What is so with the machine, in a sentence. */
  readonly note?: string | undefined;
}

/** After which task of each machine a list goes on; a machine that it does not name begins at its start. */
export type ListPlaces = ReadonlyMap<string, string>;

/** Throws INVALID_ARGUMENTS for a cursor that no list gave. */
export function placesIn(cursor = ''): ListPlaces {
  if (cursor.length > MAX_CURSOR_CHARS) throw invalidCursor();
  const pieces = cursor === '' ? [] : cursor.split(',');
  return new Map(
    pieces.map((piece): [string, string] => {
      const { machine, id } = farIdOf(piece) ?? { machine: HERE, id: piece };
      if (id !== END && !TASK_ID_PATTERN.test(id)) throw invalidCursor();
      return [machine, id];
    }),
  );
}

/** Whether a page has to ask a machine. */
export function isLeft(places: ListPlaces, name: string): boolean {
  return places.get(name) !== END;
}

/**
 * One page of at most `limit` tasks, newest first, and where the next one begins; no cursor at the end. A machine that says that there is
 * more and gives nothing, or ends where it began, is at its end.
 */
export function mergedPage(
  sources: readonly Source[],
  places: ListPlaces,
  limit = Infinity,
): { readonly tasks: TaskRecord[]; readonly cursor?: string } {
  const rest = sources.map((source) => ({ source, taken: 0 }));
  const tasks: TaskRecord[] = [];
  // Each gives its own in the order in which it has them: so its place is after the last one taken.
  while (tasks.length < limit) {
    const [next] = rest
      .flatMap((one) => ({ one, task: one.source.tasks[one.taken] ?? [] }))
      .flatMap(({ one, task }) => (Array.isArray(task) ? [] : [{ one, task }]))
      // Of one task under two names, that of the first source comes first.
      .sort((a, b) => newestFirst(bare(a.task), bare(b.task)));
    if (next === undefined) break;
    tasks.push(next.task);
    next.one.taken += 1;
  }
  const after = new Map(places);
  for (const { source, taken } of rest) {
    const last = source.tasks[taken - 1];
    if (last !== undefined) after.set(source.name, farIdOf(last.task_id)?.id ?? last.task_id);
    const isStuck = source.tasks.length === 0 || after.get(source.name) === places.get(source.name);
    if (taken === source.tasks.length && (!source.more || isStuck)) after.set(source.name, END);
  }
  const isOver = rest.every(({ source }) => after.get(source.name) === END);
  return { tasks, ...(!isOver && { cursor: cursorOf(after) }) };
}

function bare({ task_id, created_at }: TaskRecord): Pick<TaskRecord, 'task_id' | 'created_at'> {
  return { task_id: farIdOf(task_id)?.id ?? task_id, created_at };
}

function cursorOf(places: ListPlaces): string {
  return [...places].map(([name, id]) => (name === HERE ? id : idOn(name, id))).join(',');
}
