// Pure: what a bridge and a bridge on another machine say to each other, beside the tools of the Model Context Protocol.
import { z } from 'zod';
import { TASK_ID_PATTERN } from '../base/ids.js';
import { receiptSchema } from '../tasks/receipt/receipt.js';
import { decisionAnswerSchema, requestIdSchema } from '../tasks/task-host.js';
import { taskPurposeSchema, taskRecordSchema, taskStatusSchema } from '../tasks/task.js';

/** Grows when a side that speaks the number before could misunderstand; methods and fields are added without that. */
export const LINK_PROTOCOL = 1;
/** The capability of the far server, among its extensions; its value is its identity. */
export const LINK_EXTENSION = 'claude-code-bridge/link';
/** Of a channel, sent and not taken. */
export const MAX_CHANNEL_UNREAD_BYTES = 256 * 1024;
/** Of one piece of a channel. */
export const MAX_PIECE_BYTES = 64 * 1024;
/** The far end ends without a byte of the near end in this time; the near end pings every five seconds. */
export const SILENCE_MS = 45_000;

/** What a far server is. Times are ISO 8601 in UTC, of its own clock. */
export const farIdentitySchema = z.object({
  protocol: z.int().positive(),
  /** Of the machine, as the system numbers it; null where it has none. */
  machine_id: z.string().max(200).nullable(),
  /** Random, in the state directory: two names of one machine, or one folder that two hosts use, are seen by it. */
  state_id: z.string().max(100),
  version: z.string().max(100),
  home: z.string().max(4_096),
  hostname: z.string().max(255),
  now: z.iso.datetime(),
});
export type FarIdentity = z.infer<typeof farIdentitySchema>;

const taskId = z.string().regex(TASK_ID_PATTERN);
const cursor = z.string().max(10_000).optional();
/** The same call with the same id is done once. */
const requestId = requestIdSchema.optional();
const ofTask = z.object({ task_id: taskId });

/** A record as it is over there: `line` is of who shows it. A time that is none would stand anywhere in a list. */
const recordSchema = taskRecordSchema.omit({ line: true }).extend({ created_at: z.iso.datetime() });

/** The types of a method: what its request holds, and its answer. */
function method<A extends object, V>(args: z.ZodType<A>, value: z.ZodType<V>) {
  return { args, value };
}

/** What `task.list` answers at most at once, with a cursor for the rest. */
export const MAX_LISTED = 100;
/** Of the bytes of a patch, before base64. */
export const PATCH_PART_BYTES = 1024 * 1024;

const table = {
  /** The heartbeat, with the time there. */
  ping: method(z.object({}), z.object({ now: z.iso.datetime() })),
  'task.get': method(ofTask, recordSchema),
  'task.list': method(
    z.object({
      status: z.union([z.enum(['active', 'finished']), taskStatusSchema]).optional(),
      path: z.string().optional(),
      purpose: taskPurposeSchema.optional(),
      delegated: z.boolean().optional(),
      limit: z.int().positive().optional(),
      cursor,
    }),
    z.object({
      tasks: z.array(recordSchema),
      unreadable: z.array(z.object({ task_id: taskId, why: z.string() })).optional(),
      cursor: z.string().optional(),
    }),
  ),
  'task.kill': method(ofTask.extend({ reason: z.string() }), recordSchema),
  'task.respond': method(
    ofTask.extend({ answer: decisionAnswerSchema, request_id: requestId }),
    recordSchema,
  ),
  'task.message': method(
    ofTask.extend({
      text: z.string().optional(),
      interrupt: z.boolean().optional(),
      by: z.string().optional(),
      request_id: requestId,
    }),
    recordSchema,
  ),
  'task.output': method(
    ofTask.extend({ view: z.enum(['log', 'screen', 'events']), cursor, max_bytes: z.int().positive() }),
    z.object({
      task: recordSchema,
      text: z.string(),
      cursor: z.string(),
      more: z.boolean(),
      total_bytes: z.number().optional(),
    }),
  ),
  /** Null while the task runs. */
  'task.receipt': method(ofTask, z.object({ receipt: receiptSchema.nullable() })),
  /** What the task changed, as `git diff` prints it, from a byte on; without `bytes`, `notes` say why there is nothing. */
  'task.patch': method(
    ofTask.extend({ offset: z.int().nonnegative() }),
    z.object({
      bytes: z.base64().optional(),
      /** Where the next part begins; left out at the end. */
      next_offset: z.int().positive().optional(),
      notes: z.array(z.string()),
      /** What `finish_task` takes as reviewed. */
      tree: z.string().optional(),
    }),
  ),
  /** The whole prompt; a very long one is cut. */
  'task.prompt': method(ofTask, z.object({ text: z.string() })),
  /** What a page asks for that the machine alone can read or write, such as the text of a changed file; the board at both ends knows its form. */
  'task.act': method(
    ofTask.extend({ action: z.looseObject({}), by: z.string().regex(/^board\/[a-z][a-z0-9-]{0,39}$/) }),
    z.record(z.string(), z.unknown()),
  ),
  /**
   * `terminal`: the bytes of the socket of the task's keeper. `changes`: each piece is the id of a task that can be read otherwise than
   * before, at most once in 80 ms for a task; of all tasks when none is named, else also of the task's log and journal.
   */
  'channel.open': method(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('terminal'), task_id: taskId }),
      z.object({ kind: z.literal('changes'), task_id: taskId.optional() }),
    ]),
    z.object({ channel: z.int().positive() }),
  ),
} as const;

export type LinkMethods = {
  readonly [K in keyof typeof table]: {
    readonly args: z.infer<(typeof table)[K]['args']>;
    readonly value: z.infer<(typeof table)[K]['value']>;
  };
};

/** By the name of the request, behind `link/`. Errors are `data` of the JSON-RPC error: a `wireErrorSchema`. */
export const linkMethods: {
  readonly [K in keyof LinkMethods]: {
    readonly args: z.ZodType<LinkMethods[K]['args']>;
    readonly value: z.ZodType<LinkMethods[K]['value']>;
  };
} = table;

/** Sent by both sides, as notifications. */
export const channelNotices = {
  'link/data': z.object({
    channel: z.int().positive(),
    /** At most MAX_PIECE_BYTES before base64. */
    bytes: z.base64(),
  }),
  /** So many bytes were taken since the channel was opened: with more than MAX_CHANNEL_UNREAD_BYTES not taken, a terminal waits. */
  'link/taken': z.object({ channel: z.int().positive(), total: z.int().nonnegative() }),
  'link/closed': z.object({ channel: z.int().positive(), why: z.string().max(1_000) }),
} as const;
