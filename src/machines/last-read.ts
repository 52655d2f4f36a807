// Pure: what was read last of the tasks of one machine.
import type { TaskRecord } from '../tasks/task.js';

/** Of all that is known of one machine, as JSON. */
const MAX_BYTES = 4 * 1024 * 1024;

interface Read {
  readonly record: TaskRecord;
  /** Milliseconds since the epoch, of this machine's clock. */
  readonly atMs: number;
  readonly bytes: number;
}

/** The records of one machine as they came, in memory: what is shown while the line to it is cut. The oldest ones are dropped. */
export class LastRead {
  readonly #reads = new Map<string, Read>();
  #bytes = 0;

  get(id: string): Read | undefined {
    return this.#reads.get(id);
  }

  /** Newest tasks first. */
  all(): readonly Read[] {
    return [...this.#reads.values()].sort((one, other) => newestFirst(one.record, other.record));
  }

  put(record: TaskRecord, atMs: number): void {
    this.delete(record.task_id);
    const bytes = Buffer.byteLength(JSON.stringify(record));
    this.#reads.set(record.task_id, { record, atMs, bytes });
    this.#bytes += bytes;
    for (const id of this.#reads.keys()) {
      if (this.#bytes <= MAX_BYTES) return;
      this.delete(id);
    }
  }

  delete(id: string): void {
    this.#bytes -= this.#reads.get(id)?.bytes ?? 0;
    this.#reads.delete(id);
  }
}

/** As lists of tasks are ordered. */
export function newestFirst(
  one: Pick<TaskRecord, 'task_id' | 'created_at'>,
  other: Pick<TaskRecord, 'task_id' | 'created_at'>,
): number {
  return other.created_at.localeCompare(one.created_at) || other.task_id.localeCompare(one.task_id);
}
