// Pure: what clients and keepers send each other.
import { z } from 'zod';
import { BridgeError, isErrorCode, isStepName, messageOf } from '../../base/errors.js';
import { processIdentitySchema, type ProcessIdentity } from '../../store/process-place.js';
import { decisionAnswerSchema } from '../../tasks/task-host.js';
import { taskRecordSchema } from '../../tasks/task.js';

/**
 * One JSON object a line. A client sends `{ id, method, … }`; the keeper answers `{ id, value }` or `{ id, error }`, and sends pushes
 * on its own. It greets every client with the record and sends it again at the end. A method that it does not know, or that what it keeps
 * does not have, is answered with an error.
 */
export const PROTOCOL = 6;

/** The types of a method: what its request holds, and its answer. */
interface Call {
  readonly args: object;
  readonly value: unknown;
}
interface Method<C extends Call> {
  readonly args: z.ZodType<C['args']>;
  readonly value: z.ZodType<C['value']>;
}

function method<A extends object, V>(
  args: z.ZodType<A>,
  value: z.ZodType<V>,
): Method<{ readonly args: A; readonly value: V }> {
  return { args, value };
}

/** An error as one process sends it to another. */
export const wireErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  next: z.array(
    z.union([z.string(), z.object({ do: z.string().refine(isStepName), task: z.string().optional() })]),
  ),
});
type WireError = z.infer<typeof wireErrorSchema>;

export function wireErrorOf(error: unknown): WireError {
  if (error instanceof BridgeError)
    return { code: error.code, message: error.message, next: [...error.next] };
  return {
    code: 'INTERNAL_ERROR',
    message: messageOf(error),
    next: ['Try again. The keeper of a task writes a log: keeper.log in the task’s state directory.'],
  };
}

export function errorFromWire({ code, message, next }: WireError): BridgeError {
  return new BridgeError(isErrorCode(code) ? code : 'INTERNAL_ERROR', message, next);
}

/**
 * What a keeper writes to the pipe that its server reads, one a line: who it is, as soon as other processes see it, then the record of
 * what now runs, or the error.
 */
export type ReadyMessage =
  { readonly owner: ProcessIdentity } | { readonly record: unknown } | { readonly error: WireError };

/** Reads a line that holds such a message, with this record. */
export function readyMessageSchema<T>(record: z.ZodType<T>) {
  const json = z.string().transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch (error) {
      context.addIssue(messageOf(error));
      return z.NEVER;
    }
  });
  return json.pipe(
    z.union([
      z.object({ owner: processIdentitySchema }),
      z.object({ record }),
      z.object({ error: wireErrorSchema }),
    ]),
  );
}

/** The descriptor of that pipe in the keeper. */
export const READY_FD = 3;

/** Watchers never make a terminal larger than this. */
const MAX_COLUMNS = 1000;
const MAX_ROWS = 500;
const MAX_SCROLLBACK_LINES = 2_000;
const MAX_HOLD_SECONDS = 600;

/** How a client shows the terminal; sent again when that changes. */
const terminalViewSchema = z.object({
  columns: z.int().min(1).max(MAX_COLUMNS),
  rows: z.int().min(1).max(MAX_ROWS),
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

const nothing = z.unknown();
const size = z.object({ columns: z.int().positive(), rows: z.int().positive() });
const count = z.int().exactOptional();

const table = {
  // What a task has.
  respond: method(
    z.object({ answer: decisionAnswerSchema, request: z.string().optional() }),
    taskRecordSchema,
  ),
  message: method(
    z.object({
      text: z.string().optional(),
      interrupt: z.boolean().optional(),
      by: z.string().optional(),
      request: z.string().optional(),
    }),
    taskRecordSchema,
  ),
  kill: method(z.object({ reason: z.string() }), taskRecordSchema),
  watch: method(z.object({ view: terminalViewSchema }), nothing),
  type: method(z.object({ keys: z.base64() }), nothing),
  // What both have.
  screen: method(z.object({}), z.object({ text: z.string(), ...size.shape })),
  // What a process has.
  give: method(
    z.object({
      size: size.optional(),
      text: z.string().optional(),
      keys: z.array(z.string()).optional(),
      eof: z.boolean().optional(),
    }),
    nothing,
  ),
  signal: method(z.object({ name: z.string() }), nothing),
  end: method(z.object({ first: z.string() }), z.int()),
  stats: method(
    z.object({}),
    z.object({
      cpuSeconds: z.number(),
      memoryBytes: z.number(),
      processCount: z.int(),
      listeningPorts: z.array(z.int()).readonly().exactOptional(),
    }),
  ),
  printed: method(
    z.object({ beyond: z.int(), limit_ms: z.number().min(0) }),
    z.object({ stdout: count, stderr: count, terminal: count }),
  ),
};
export type Calls = {
  readonly [K in keyof typeof table]: (typeof table)[K] extends Method<infer C> ? C : never;
};

/** All methods of all keepers. */
export const methods: { readonly [K in keyof Calls]: Method<Calls[K]> } = table;

/** What a keeper does for each method that it has. `peer` is the client. */
export type Handlers<Peer> = {
  readonly [K in keyof Calls]?: (args: Calls[K]['args'], peer: Peer) => Promise<Calls[K]['value']>;
};

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

/** What a keeper sends without a request; the record is that of a task or a process. */
export const pushSchema = z.discriminatedUnion('push', [
  z.object({ push: z.literal('record'), record: z.unknown() }),
  terminalPushSchema,
]);
export type Push = z.infer<typeof pushSchema>;
