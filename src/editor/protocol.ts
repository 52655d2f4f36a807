// Pure.
import { z } from 'zod';

/** The version of the messages between a program and the extension. */
export const EDITOR_PROTOCOL = 1;
/** The longest message of a program, and of the extension. */
export const MAX_EDITOR_MESSAGE_BYTES = 1024 * 1024;

/** Of the text of one `output` or `success`: with all of it escaped as JSON, a message stays within its limit. */
export const MAX_OUTPUT_CHARS = 128 * 1024;
export const DEFAULT_OUTPUT_CHARS = 32 * 1024;
/** The newest output of a terminal that the extension keeps. */
export const MAX_KEPT_CHARS = 4 * 1024 * 1024;
export const DEFAULT_TIMEOUT_MS = 10 * 60_000;

const MAX_TIMEOUT_MS = 24 * 3_600_000;
const MAX_WAIT_MS = 45_000;
const MAX_ID_CHARS = 128;
const MAX_NAME_CHARS = 60;
const MAX_CLIENT_CHARS = 40;
const MAX_TOKEN_CHARS = 200;
const MAX_PATH_CHARS = 4_096;
const MAX_COMMAND_CHARS = 100_000;
const MAX_INPUT_CHARS = 64 * 1024;
const MAX_ENV_CHARS = 100_000;

const idText = z
  .string()
  .min(1)
  .max(MAX_ID_CHARS)
  .regex(/^[^\p{Cc}\p{Cf}]+$/u, 'must not hold control characters');
/** Chosen by the program; the answer carries it. */
const id = idText;
const terminalId = idText;
/** How many characters of a terminal's output came before. */
const cursor = z.int().nonnegative();
const path = z
  .string()
  .min(1)
  .max(MAX_PATH_CHARS)
  .regex(/^[^\p{Cc}]+$/u, 'must not hold control characters');
/** Control characters would be keys: only lines and tabs are text. */
const commandText = z
  .string()
  .max(MAX_COMMAND_CHARS)
  .regex(/^[^\p{Cc}\n\t]*(?:[\n\t][^\p{Cc}\n\t]*)*$/u, 'must not hold control characters');
const timeoutMs = z.int().positive().max(MAX_TIMEOUT_MS);
const maxChars = z.int().positive().max(MAX_OUTPUT_CHARS);

/** Who connects. It may be left out by a program whose token came with the `Authorization` header. */
const hello = z.object({
  type: z.literal('hello'),
  id,
  token: z.string().max(MAX_TOKEN_CHARS).optional(),
  /** How the person sees who made a terminal. */
  client: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9 ._@/-]*$/)
    .max(MAX_CLIENT_CHARS),
});

const ping = z.object({ type: z.literal('ping'), id });

/** Makes a terminal; the id of the request is the id of the terminal. */
const createTerminal = z.object({
  type: z.literal('create_terminal'),
  id,
  name: z
    .string()
    .min(1)
    .max(MAX_NAME_CHARS)
    .regex(/^[^\p{Cc}\p{Cf}]+$/u, 'must not hold control characters')
    .optional(),
  /** The name of one of the editor's terminal profiles, or a program; without it, the person's own shell. */
  shell: path.optional(),
  /** Absolute; without it, the first folder of the workspace. */
  cwd: path.optional(),
  /** Null removes a variable. */
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(MAX_ENV_CHARS).nullable())
    .optional(),
  /** False leaves it in the background; otherwise it comes to the front, without taking the keyboard. */
  show: z.boolean().optional(),
});

/** Runs a command; answered with `success` when it has ended, whatever its exit code is. */
const execute = z.object({
  type: z.literal('execute'),
  id,
  /** One line or several, as a person would type them. */
  command: commandText.min(1),
  /** Without it: the newest terminal of this connection, or a new one. */
  terminalId: terminalId.optional(),
  /** After this it is interrupted as by Ctrl-C. Ten minutes without it. */
  timeoutMs: timeoutMs.optional(),
  /** What happens while another command runs. */
  ifBusy: z.enum(['queue', 'refuse']).optional(),
  /** `start`: `success` comes when it runs, and `execution_ended` later. */
  answer: z.enum(['end', 'start']).optional(),
  /** Of the output in `success`; its newest part is given. */
  maxChars: maxChars.optional(),
});

/** Types text as it is; `\u0003` is Ctrl-C, `\r` is Enter. */
const input = z.object({
  type: z.literal('input'),
  id,
  terminalId,
  text: z.string().min(1).max(MAX_INPUT_CHARS),
});

/** Answered with `output`. */
const readOutput = z.object({
  type: z.literal('read_output'),
  id,
  terminalId,
  /** Without it, the newest output. */
  cursor: cursor.optional(),
  maxChars: maxChars.optional(),
  /** Waits this long for output or the end of what runs. */
  waitMs: z.int().nonnegative().max(MAX_WAIT_MS).optional(),
});

const listTerminals = z.object({ type: z.literal('list_terminals'), id });

const closeTerminal = z.object({ type: z.literal('close_terminal'), id, terminalId });

/** What a program sends, one JSON object in each message. */
export const editorRequestSchema = z.discriminatedUnion('type', [
  hello,
  ping,
  createTerminal,
  execute,
  input,
  readOutput,
  listTerminals,
  closeTerminal,
]);
export type EditorRequest = z.infer<typeof editorRequestSchema>;
export type EditorRequestOf<Type extends EditorRequest['type']> = Extract<
  EditorRequest,
  { readonly type: Type }
>;

/** Why a request was not done. */
export const editorErrorCodes = [
  'INVALID_MESSAGE',
  'NO_TOKEN',
  'UNTRUSTED_WORKSPACE',
  'TERMINAL_EXISTS',
  'TERMINAL_NOT_FOUND',
  'TERMINAL_BUSY',
  'TERMINAL_CLOSED',
  'TERMINAL_FAILED',
  'TOO_MANY',
  'NO_SHELL_INTEGRATION',
  'SHELL_NOT_FOUND',
  'FOLDER_NOT_FOUND',
  'NOT_SUPPORTED',
  'NOT_STARTED',
  'TIMED_OUT',
  'INTERNAL_ERROR',
] as const;
export type EditorErrorCode = (typeof editorErrorCodes)[number];

/** The command that runs in a terminal, or the last one that ran. */
const executionSchema = z.object({
  /** Of the request. */
  id: idText,
  state: z.enum(['queued', 'running', 'ended']),
  /** Null while it is not known: the shell may not say. */
  exitCode: z.int().nullable(),
  /** It was interrupted at its time limit. */
  timedOut: z.boolean(),
  /** Its output is from here … */
  from: cursor,
  /** … to here, so far. */
  cursor,
});
export type EditorExecution = z.infer<typeof executionSchema>;

const terminalSchema = z.object({
  terminalId: idText,
  terminalName: z.string(),
  /** The program that made it. */
  createdBy: z.string(),
  createdAt: z.string(),
  shell: z.string().nullable(),
  cwd: z.string().nullable(),
  pid: z.int().nullable(),
  /** `busy`: a command of a program or of the person runs. */
  state: z.enum(['idle', 'busy']),
  /** Commands that wait. */
  queued: z.int().nonnegative(),
  cursor,
  execution: executionSchema.nullable(),
});
export type EditorTerminal = z.infer<typeof terminalSchema>;

/** What the extension sends. A message with an `id` belongs to the request with that id. */
export const editorMessageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('welcome'),
    id,
    v: z.literal(EDITOR_PROTOCOL),
    /** Of the extension. */
    version: z.string(),
    /** Nothing is made or run in an untrusted workspace. */
    trusted: z.boolean(),
    folders: z.array(z.string()),
  }),
  z.object({ type: z.literal('pong'), id }),
  z.object({
    type: z.literal('terminal_created'),
    id,
    terminalId: idText,
    terminalName: z.string(),
    shell: z.string().nullable(),
  }),
  z.object({
    type: z.literal('success'),
    id,
    terminalId: idText.optional(),
    /** Of a command; null where the shell does not say. */
    exitCode: z.int().nullable().optional(),
    /** Of a command; the lines end as it wrote them. */
    output: z.string().optional(),
    /** How many characters before `output` were left out: read them by cursor. */
    omitted: z.int().nonnegative().optional(),
    from: cursor.optional(),
    cursor: cursor.optional(),
  }),
  z.object({
    type: z.literal('output'),
    id,
    terminalId: idText,
    text: z.string(),
    /** Where the text begins … */
    from: cursor,
    /** … and ends. */
    cursor,
    /** How many characters after the cursor that was asked for are not kept any more. */
    dropped: z.int().nonnegative(),
    /** More is there now. */
    more: z.boolean(),
    state: z.enum(['idle', 'busy']),
    execution: executionSchema.nullable(),
  }),
  z.object({
    type: z.literal('execution_ended'),
    id,
    terminalId: idText,
    exitCode: z.int().nullable(),
    timedOut: z.boolean(),
    from: cursor,
    cursor,
  }),
  z.object({ type: z.literal('terminals'), id, terminals: z.array(terminalSchema) }),
  /** Sent to every program: the terminal is gone. */
  z.object({
    type: z.literal('terminal_closed'),
    terminalId: idText,
    /** `person`: the person took it away; `program`: a program closed it; `shell`: its shell ended; `editor`: the extension stopped. */
    by: z.enum(['person', 'program', 'shell', 'editor']),
    exitCode: z.int().nullable(),
  }),
  z.object({
    type: z.literal('error'),
    /** Missing when the message had none that can be read. */
    id: id.optional(),
    code: z.enum(editorErrorCodes),
    error: z.string(),
    /** What to do. */
    hint: z.string(),
    terminalId: idText.optional(),
    from: cursor.optional(),
    cursor: cursor.optional(),
  }),
]);
export type EditorMessage = z.infer<typeof editorMessageSchema>;
export type EditorMessageOf<Type extends EditorMessage['type']> = Extract<
  EditorMessage,
  { readonly type: Type }
>;
