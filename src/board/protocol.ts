// Pure.
import { z } from 'zod';
import { ANY_TASK_ID_PATTERN, DECISION_ID_PATTERN, MACHINE_NAME_PATTERN } from '../base/ids.js';

/** The version of the messages between a page and the board's process. */
export const BOARD_PROTOCOL = 1;
/** The longest message of a page. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

const MAX_TEXT_CHARS = 200_000;
const MAX_NAME_CHARS = 40;
const MAX_MODEL_CHARS = 200;
const MAX_PATH_CHARS = 4_096;
const MAX_RULE_CHARS = 300;
const MAX_RULES = 20;
/** Of a changed line: as much as a page gets of a file. */
const MAX_LINE_CHARS = 256 * 1024;
const MAX_COMMENT_CHARS = 10_000;
const MAX_CURSOR_CHARS = 100;
const MAX_INPUT_BYTES = 64 * 1024;
/** The size of a terminal that a page may ask for. */
const MAX_COLUMNS = 500;
const MAX_ROWS = 300;

const taskId = z.string().regex(ANY_TASK_ID_PATTERN, 'must be a task id');
const id = z.int().positive();
/** `board:/`, `task:/<id>`, `diff:/<id>` or `term:/<id>`; a task of another machine has its name before its id. */
export const channelSchema = z
  .string()
  .regex(
    /^(board:\/|(task|diff|term):\/([a-z][a-z0-9-]{0,30}\/)?task_[0-9a-f]{20})$/,
    'must be the name of a channel',
  );

export const decisionAnswer = z.object({
  type: z.literal('decision.answer'),
  task_id: taskId,
  decision_id: z.string().regex(DECISION_ID_PATTERN),
  /** Of the request that was shown: an answer to another one is refused. */
  input_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  verdict: z.enum(['allow', 'allow_session', 'deny']),
  /** With deny: why, or what to do instead. */
  message: z.string().max(MAX_TEXT_CHARS).optional(),
  /** For questions: each question to its answer. For a permission: fields of its input to what is allowed instead. */
  answers: z.record(z.string().max(MAX_TEXT_CHARS), z.string().max(MAX_TEXT_CHARS)).optional(),
});

const ofDecision = decisionAnswer.pick({ task_id: true, decision_id: true, input_sha256: true });
const rules = z.array(z.string().min(1).max(MAX_RULE_CHARS)).min(1).max(MAX_RULES);
const ruleActions = [
  /** Which rules would allow the like of this from now on; `rules`: other ones than those that the board would propose. */
  ofDecision.extend({ type: z.literal('rule.propose'), rules: rules.optional() }),
  /** Writes the rules into the settings file that the proposal named, and allows this request once. */
  ofDecision.extend({ type: z.literal('rule.write'), rules, file: z.string().max(MAX_PATH_CHARS) }),
] as const;

const taskActions = [
  /** Starts a task; what is left out is as the settings say. */
  z.object({
    type: z.literal('task.start'),
    /** Where; left out for this machine. */
    machine: z.string().regex(MACHINE_NAME_PATTERN).optional(),
    /** Absolute, on that machine. */
    path: z.string().min(1).max(MAX_PATH_CHARS),
    prompt: z.string().min(1).max(MAX_TEXT_CHARS),
    permission_mode: z.enum(['auto', 'cautious', 'sandboxed', 'claude']).optional(),
    model: z.string().min(1).max(MAX_MODEL_CHARS).optional(),
    /** Another task may have the project. */
    on_conflict: z.enum(['error', 'queue', 'worktree', 'always_worktree']),
    max_cost_usd: z.number().min(0.01).optional(),
  }),
  /** Starts a task that goes on from one that has ended, with its session where there is one. */
  z.object({
    type: z.literal('task.continue'),
    task_id: taskId,
    text: z.string().min(1).max(MAX_TEXT_CHARS),
  }),
  z.object({ type: z.literal('task.message'), task_id: taskId, text: z.string().min(1).max(MAX_TEXT_CHARS) }),
  z.object({ type: z.literal('task.interrupt'), task_id: taskId }),
  z.object({ type: z.literal('task.kill'), task_id: taskId, reason: z.string().max(MAX_TEXT_CHARS) }),
  z.object({
    type: z.literal('task.finish'),
    task_id: taskId,
    action: z.enum(['merge', 'apply', 'discard', 'undo']),
    /** For all but discard: the tree that the page shows. */
    reviewed: z.string().max(MAX_NAME_CHARS).optional(),
    /** The person has read which checks are not met. */
    anyway: z.boolean().optional(),
  }),
] as const;

/** Asks for what the log of a task says from a cursor on; without one, for its newest part. */
const logRead = z.object({
  type: z.literal('log.read'),
  task_id: taskId,
  cursor: z.string().max(MAX_CURSOR_CHARS).optional(),
});

/** Asks for the text of a file that the task changed: as it was when the task began, or as it is now. */
const fileRead = z.object({
  type: z.literal('file.read'),
  task_id: taskId,
  /** The name on that side: a renamed file had another one before. */
  file: z.string().min(1).max(MAX_PATH_CHARS),
  side: z.enum(['old', 'new']),
});

export const reviewComment = z.object({
  file: z.string().min(1).max(MAX_PATH_CHARS),
  /** Whether the line is one that was taken away, or one of the file as it is now. */
  side: z.enum(['old', 'new']),
  line: z.int().positive(),
  /** The line itself. */
  quoted: z.string().max(MAX_LINE_CHARS),
  text: z.string().min(1).max(MAX_COMMENT_CHARS),
});
const reviewActions = [
  /** Keeps a comment on a line until it is sent. */
  reviewComment.extend({ type: z.literal('review.add'), task_id: taskId }),
  z.object({ type: z.literal('review.remove'), task_id: taskId, comment_id: z.string().max(MAX_NAME_CHARS) }),
  /** Sends all comments that were not sent as one message, or, for a task that has ended, as the prompt of one that goes on from it. */
  z.object({ type: z.literal('review.submit'), task_id: taskId }),
] as const;

const size = { columns: z.int().min(2).max(MAX_COLUMNS), rows: z.int().min(1).max(MAX_ROWS) };
const terminalActions = [
  /** From now on this client writes; the one that wrote before is notified. */
  z.object({ type: z.literal('term.claim'), task_id: taskId, ...size }),
  z.object({ type: z.literal('term.release'), task_id: taskId }),
  z.object({
    type: z.literal('term.input'),
    task_id: taskId,
    /** Base64. */
    keys: z.base64().max(MAX_INPUT_BYTES),
  }),
  z.object({ type: z.literal('term.resize'), task_id: taskId, ...size }),
] as const;

/** Asks for the lines of the recording after a place, which an answer named before; without a file for the first ones. */
const replayRead = z.object({
  type: z.literal('replay.read'),
  task_id: taskId,
  file: z.string().max(MAX_CURSOR_CHARS).optional(),
  from: z.int().nonnegative(),
});

/** What a person does. */
export const clientActionSchema = z.discriminatedUnion('type', [
  decisionAnswer,
  ...ruleActions,
  ...taskActions,
  logRead,
  fileRead,
  ...reviewActions,
  ...terminalActions,
  replayRead,
]);
export type ClientAction = z.infer<typeof clientActionSchema>;

/** What only the machine of a task can do. */
export const thereActionSchema = z.discriminatedUnion('type', [...ruleActions, fileRead, replayRead]);
export type ThereAction = z.infer<typeof thereActionSchema>;

/** What a page sends, one JSON object in each message. */
export const clientMessageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    v: z.literal(BOARD_PROTOCOL),
    token: z.string().max(100),
    /** How others see who acted. */
    client: z
      .string()
      .regex(/^[a-z][a-z0-9-]*$/)
      .max(MAX_NAME_CHARS),
  }),
  z.object({ type: z.literal('subscribe'), channel: channelSchema }),
  z.object({ type: z.literal('unsubscribe'), channel: channelSchema }),
  z.object({ type: z.literal('dispatch'), id, action: clientActionSchema }),
  /** How many bytes of a terminal the page has shown since it subscribed. */
  z.object({ type: z.literal('term.ack'), channel: channelSchema, bytes: z.int().nonnegative() }),
]);
export type ClientMessage = z.infer<typeof clientMessageSchema>;

/** The value `terminal` of a terminal channel: the page asks for the bytes with it. */
export interface TerminalState {
  /** The number in the head of its binary frames. */
  readonly stream: number;
  readonly columns: number;
  readonly rows: number;
  /** The client that types; null for none. */
  readonly writer: string | null;
  /** Why there is nothing to see any more, or yet. */
  readonly closed: string | null;
}

export interface ActionError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** One side of a changed file. */
export interface FileText {
  /** Null when there is none to show. */
  readonly text: string | null;
  /** Where the file is on disk; null for the old side, where the new side is a commit, and on another machine. */
  readonly path: string | null;
  /** Why there is no text: that side does not have the file, it is not UTF-8, or it has more than 2 MB. */
  readonly why: 'missing' | 'binary' | 'too_large' | null;
}

/** Rules that would allow the like of a request, as they would stand in the settings. */
export interface RuleProposal {
  readonly rules: readonly string[];
  /** The rows, as they would stand in the file. */
  readonly rows: string;
  readonly file: string;
  /** Why they cannot be written there; null when they can. */
  readonly refusal: string | null;
  /** When they count, and for which tasks they do not. */
  readonly notes: readonly string[];
}

/** A comment on a line of a task's changes that was not sent yet. */
export type ReviewComment = Readonly<z.infer<typeof reviewComment>> & { readonly comment_id: string };

/** Some whole lines of a recording (asciicast v2). */
export interface RecordingPiece {
  /** Names the file; empty where nothing was recorded. */
  readonly file: string;
  /** Bytes of the file before these lines, and to their end; the same where nothing more is written. */
  readonly from: number;
  readonly to: number;
  /** The file goes on where the one that was asked for ends. */
  readonly follows: boolean;
  /** Without what was typed. */
  readonly text: string;
}

/** What an action brought. */
export interface ActionAnswer {
  /** The task that was started. */
  readonly task_id?: string;
  /** Of `log.read`. */
  readonly log?: { readonly text: string; readonly cursor: string; readonly more: boolean };
  /** Of `file.read`. */
  readonly file?: FileText;
  /** Of `rule.propose`. */
  readonly proposal?: RuleProposal;
  /** Of `replay.read`. */
  readonly piece?: RecordingPiece;
}

/** Values of a channel. */
export interface ValuesMessage {
  readonly type: 'values';
  readonly channel: string;
  /** These are all: what was known before is over. */
  readonly whole: boolean;
  readonly set: Readonly<Record<string, unknown>>;
  readonly del: readonly string[];
}

/** What the board sends. */
export type ServerMessage =
  | {
      readonly type: 'welcome';
      readonly v: typeof BOARD_PROTOCOL;
      /** The name of this client as others see it. */
      readonly client: string;
      readonly version: string;
      readonly home: string;
    }
  | ValuesMessage
  | ({ readonly type: 'result'; readonly id: number } & Outcome)
  /** A channel cannot be opened, or a message was not understood. */
  | { readonly type: 'refused'; readonly channel?: string; readonly error: ActionError };

/** What became of an action. */
export type Outcome =
  ({ readonly ok: true } & ActionAnswer) | { readonly ok: false; readonly error: ActionError };
