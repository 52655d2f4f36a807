import { farIdOf } from '../../src/base/ids.js';
import type { BoardState, TaskCard } from '../../src/board/state.js';
import { clockTime } from './words.js';

type Id = Pick<TaskCard, 'task_id'>;

/** The machine of a task; undefined for the one of the board. */
export function machineOf({ task_id }: Id): string | undefined {
  return farIdOf(task_id)?.machine;
}

/** The same folder, of the same machine. */
export function sameProject(one: TaskCard, other: TaskCard): boolean {
  return one.project_path === other.project_path && machineOf(one) === machineOf(other);
}

/** The home folder where a task runs. */
export function homeOf(task: Id, board: BoardState | undefined, home: string): string {
  const machine = machineOf(task);
  return machine === undefined ? home : (board?.machines[machine]?.home ?? '');
}

/** `unverifiable since 14:02`, while the line to a machine is cut. */
export function cutWords(machine: string | undefined, board: BoardState | undefined): string | undefined {
  const since = board?.machines[machine ?? '']?.since;
  if (since == null) return undefined;
  const at = new Date(since);
  const day = at.toDateString() === new Date().toDateString() ? '' : `${at.toLocaleDateString()} `;
  return `unverifiable since ${day}${clockTime(since).slice(0, 'hh:mm'.length)}`;
}

/** The same of a task that had not ended. */
export function unverifiable(task: TaskCard, board: BoardState | undefined): string | undefined {
  return task.is_final ? undefined : cutWords(machineOf(task), board);
}
