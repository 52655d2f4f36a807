import { z } from 'zod';
import { taskRecordSchema } from '../tasks/task.js';
import { decisionAnswerSchema } from '../tasks/task-host.js';

/**
 * The keeper's socket: one JSON object a line, both ways. A client asks with an `id`; the keeper answers with the same
 * `id`, and pushes the record to every client each time it changed.
 */
export const keeperRequestSchema = z.discriminatedUnion('method', [
  z.object({ id: z.number(), method: z.literal('respond'), answer: decisionAnswerSchema }),
  z.object({
    id: z.number(),
    method: z.literal('message'),
    text: z.string().optional(),
    interrupt: z.boolean().optional(),
  }),
  z.object({ id: z.number(), method: z.literal('kill'), reason: z.string() }),
  z.object({ id: z.number(), method: z.literal('screen') }),
]);
export type KeeperRequest = z.infer<typeof keeperRequestSchema>;

const screenSchema = z.object({ text: z.string(), columns: z.number(), rows: z.number() });

export const keeperReplySchema = z.union([
  z.object({ id: z.number(), record: taskRecordSchema }),
  z.object({ id: z.number(), screen: screenSchema }),
  z.object({ id: z.number(), error: z.object({ code: z.string(), message: z.string(), hint: z.string() }) }),
  z.object({ push: z.literal('record'), record: taskRecordSchema }),
]);
export type KeeperReply = z.infer<typeof keeperReplySchema>;

/** The one line that a starting keeper writes to its parent: it runs, or why not. */
export const readyMessageSchema = z.union([
  z.object({ record: taskRecordSchema }),
  z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string() }) }),
]);
export type ReadyMessage = z.infer<typeof readyMessageSchema>;

/** A record, an answer or a prompt fits well within this; a longer line is no keeper's. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
