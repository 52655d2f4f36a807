// Pure.
import { z } from 'zod';
import { taskIdSchema } from '../task.js';

export const TICKET_VERSION = 1;

/**
 * `queue/<task_id>.json`: a task that waits to be started. As long as the ticket is there, and no keeper has the task, any
 * process of the user may start it; the task's spec and prompt lie in its folder. It says nothing that changes: where the
 * task is in the queue follows from the other tickets and the locks.
 */
export const ticketSchema = z.object({
  version: z.literal(TICKET_VERSION),
  task_id: taskIdSchema,
  /** Real path of the project, as in the spec. */
  project_path: z.string(),
  /** Grows with each ticket while the queue holds any. */
  number: z.number().int(),
  /** The round in which the task's project is served: each project once a round. */
  turn: z.number().int(),
  queued_at: z.string(),
  /** Those of the server that was asked: the project must still lie in them when the task starts. */
  allowed_roots: z.array(z.string()),
  /** The limit of that server, over all tasks of the user. */
  max_concurrent_tasks: z.number().int().positive(),
});
export type Ticket = z.infer<typeof ticketSchema>;
