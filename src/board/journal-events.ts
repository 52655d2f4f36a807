import { z } from 'zod';
import type { TaskService } from '../tasks/task-service.js';
import type { TimelineEvent } from './state.js';

const PAGE_BYTES = 1024 * 1024;
const eventSchema = z.looseObject({ seq: z.number(), at: z.string(), type: z.string() });

/** The events of a task's journal, each given once. */
export class JournalEvents {
  readonly #tasks: Pick<TaskService, 'output'>;
  readonly #taskId: string;
  #cursor: string | undefined;

  constructor(tasks: Pick<TaskService, 'output'>, taskId: string) {
    this.#tasks = tasks;
    this.#taskId = taskId;
  }

  /** Those since the last call. Throws as the task service does. */
  async next(): Promise<TimelineEvent[]> {
    const events: TimelineEvent[] = [];
    for (;;) {
      const page = await this.#tasks.output({
        taskId: this.#taskId,
        view: 'events',
        cursor: this.#cursor,
        maxBytes: PAGE_BYTES,
      });
      for (const line of page.text.split('\n'))
        if (line !== '') events.push(eventSchema.parse(JSON.parse(line)));
      this.#cursor = page.cursor;
      if (!page.more) return events;
    }
  }
}
