// Pure.
import { z } from 'zod';
import { TASK_ID_PATTERN } from '../base/id-patterns.js';
import { channelSchema, clientActionSchema } from './protocol.js';

/** Clients cut calls at 60 s, and some earlier. */
export const MAX_WAIT_MS = 20_000;
const MAX_CHANNELS = 8;
const MAX_TASKS = 20;
const MAX_NAME_CHARS = 40;

/** What the server of a chat asks the board for its app: the next messages of some channels. */
export const appReadSchema = z.object({
  /** Of the answer before; numbers of another board mean nothing here. */
  board_id: z.string().max(MAX_NAME_CHARS).optional(),
  channels: z
    .array(
      z.object({
        channel: channelSchema.refine((name) => !name.startsWith('term:'), 'an app has no terminal'),
        /** The number of the last action that the app has. */
        since: z.int().nonnegative().optional(),
      }),
    )
    .max(MAX_CHANNELS),
  /** Only these tasks are in a snapshot of `board:/`. */
  tasks: z.array(z.string().regex(TASK_ID_PATTERN)).max(MAX_TASKS).optional(),
  /** How long a message is waited for when there is none. */
  wait_ms: z.int().min(0).max(MAX_WAIT_MS),
});
export type AppRead = z.infer<typeof appReadSchema>;

/** What it asks the board to do for a person at the app. */
export const appActSchema = z.object({
  /** Stands in the journal as `board/<client>`. */
  client: z
    .string()
    .regex(/^chat(-[a-z0-9]+)*$/)
    .max(MAX_NAME_CHARS),
  action: clientActionSchema,
});
export type AppAct = z.infer<typeof appActSchema>;

export const appAnswerSchema = z.object({
  board_id: z.string(),
  version: z.string(),
  home: z.string(),
  /** As pages get them. */
  messages: z.array(z.looseObject({ type: z.string() })),
});
export type AppAnswer = z.infer<typeof appAnswerSchema>;

const actionErrorSchema = z.object({ code: z.string(), message: z.string(), hint: z.string() });
export const appOutcomeSchema = z.object({
  ok: z.boolean(),
  /** The task that was started. */
  task_id: z.string().optional(),
  error: actionErrorSchema.optional(),
});
export type AppOutcome = z.infer<typeof appOutcomeSchema>;
