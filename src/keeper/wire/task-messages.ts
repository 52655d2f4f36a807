// Pure.
import { z } from 'zod';
import { taskRecordSchema } from '../../tasks/task.js';
import { decisionAnswerSchema } from '../../tasks/task-host.js';

/**
 * What a server and the keeper of a task send each other, see Requests and KeeperPeer. A keeper greets every client with the record
 * and sends it again at the end. After a change it pushes the number of the change; a client that watches the terminal shows decisions, and gets the record.
 * A request that a keeper does not know is answered with an error.
 */
export const PROTOCOL = 4;

/** Watchers never make a terminal larger than this. */
const MAX_COLUMNS = 1000;
const MAX_ROWS = 500;
const MAX_SCROLLBACK_LINES = 2_000;
const MAX_HOLD_SECONDS = 600;

const sizeFields = {
  columns: z.int().min(1).max(MAX_COLUMNS),
  rows: z.int().min(1).max(MAX_ROWS),
};

/** How a client shows the terminal; sent again when that changes. */
const terminalViewSchema = z.object({
  ...sizeFields,
  /** Neither its keys nor its size reach the session. */
  read_only: z.boolean(),
  /** The client itself uses the last row, so it gets pictures of the screen that leave that row free. */
  covered: z.boolean(),
  /** Lines above the screen that the next state includes. */
  scrollback: z.int().min(0).max(MAX_SCROLLBACK_LINES),
  /** A client that has typed and is lost holds the session for so many seconds more; left out: none. */
  hold_seconds: z.number().min(0).max(MAX_HOLD_SECONDS).optional(),
});
export type TerminalView = z.infer<typeof terminalViewSchema>;

export const keeperRequestSchema = z.discriminatedUnion('method', [
  z.object({ id: z.number(), method: z.literal('respond'), answer: decisionAnswerSchema }),
  z.object({
    id: z.number(),
    method: z.literal('message'),
    text: z.string().optional(),
    interrupt: z.boolean().optional(),
    by: z.string().optional(),
  }),
  z.object({ id: z.number(), method: z.literal('kill'), reason: z.string() }),
  z.object({ id: z.number(), method: z.literal('screen') }),
  z.object({ id: z.number(), method: z.literal('watch'), view: terminalViewSchema }),
  z.object({ id: z.number(), method: z.literal('type'), keys: z.base64() }),
]);
export type KeeperRequest = z.infer<typeof keeperRequestSchema>;
/** A request before it has its number. */
export type KeeperMessage = KeeperRequest extends infer R
  ? R extends { id: number }
    ? Omit<R, 'id'>
    : never
  : never;

const screenSchema = z.object({ text: z.string(), columns: z.number(), rows: z.number() });

/**
 * What a watcher's terminal is to show. `state` is for a terminal that was reset, `output` follows it or other output,
 * `picture` draws over whatever is there.
 */
const terminalPushSchema = z.object({
  push: z.literal('terminal'),
  kind: z.enum(['state', 'output', 'picture']),
  data: z.base64(),
});
export type TerminalPush = z.infer<typeof terminalPushSchema>;

/** What a keeper sends without a request: the record, the number of its newest change, and what a watcher's terminal is to show. */
export const taskPushSchema = z.discriminatedUnion('push', [
  z.object({ push: z.literal('record'), record: taskRecordSchema, protocol: z.number().optional() }),
  z.object({ push: z.literal('changed'), change_seq: z.number() }),
  terminalPushSchema,
]);

/** Answers, by their request. Those to `watch` and `type` are empty. */
export const recordAnswerSchema = z.object({ record: taskRecordSchema });
export const screenAnswerSchema = z.object({ screen: screenSchema });
