// Pure.
import { invalidCursor } from '../../base/cursor.js';
import { isFinal, openDecisions, type TaskRecord, TURN_OVER } from '../task.js';

const part = /^(task_[0-9a-f]{20}):(\d{1,12})$/;

/** What a waiting caller has seen of each task: `task_…:<change_seq>`, joined by commas. */
export class WaitCursor {
  readonly #seen: ReadonlyMap<string, number>;

  private constructor(seen: ReadonlyMap<string, number>) {
    this.#seen = seen;
  }

  /** Throws INVALID_ARGUMENTS for an invalid cursor. */
  static parse(text: string | undefined): WaitCursor {
    const seen = new Map<string, number>();
    for (const piece of text === undefined || text === '' ? [] : text.split(',')) {
      const match = part.exec(piece);
      if (match === null) throw invalidCursor();
      seen.set(match[1] ?? '', Number(match[2]));
    }
    return new WaitCursor(seen);
  }

  static of(tasks: readonly TaskRecord[]): string {
    return tasks.map((task) => `${task.task_id}:${task.change_seq}`).join(',');
  }

  /** For a caller that has seen nothing of the tasks: the first check answers immediately. */
  static beforeAll(taskIds: readonly string[]): string {
    return taskIds.map((taskId) => `${taskId}:0`).join(',');
  }

  /**
   * Ids of the tasks that changed since. A task that the cursor does not know counts as changed when there is nothing to
   * wait for: it has ended, its turn has, or it waits for the caller.
   */
  changed(tasks: readonly TaskRecord[]): string[] {
    return tasks
      .filter((task) => {
        const seen = this.#seen.get(task.task_id);
        if (seen !== undefined) return task.change_seq > seen;
        return (
          isFinal(task.status) ||
          task.status === 'waiting' ||
          openDecisions(task).length > 0 ||
          task.reason.startsWith(TURN_OVER)
        );
      })
      .map((task) => task.task_id);
  }
}
