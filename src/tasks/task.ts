// Pure.
import { z } from 'zod';
import { budgetSchema } from './budget/budget.js';
import { approvalKinds, approvalModes } from '../approvals/modes.js';
import { briefSchema } from '../checks/brief.js';
import { checkRunSchema } from '../checks/result.js';
import { DECISION_ID_PATTERN, TASK_ID_PATTERN } from '../base/ids.js';
import { isWithin } from '../projects/path-in-project.js';
import { processIdentitySchema } from '../store/process-place.js';
import { worktreeSchema } from './worktree-maker.js';

/** The statuses of the specification, and `waiting`: a decision is open. */
export const taskStatuses = [
  'pending',
  'starting',
  'running',
  'waiting',
  'completed',
  'failed',
  'timeout',
  'killed',
  'error',
] as const;
export const taskStatusSchema = z.enum(taskStatuses);
export type TaskStatus = z.infer<typeof taskStatusSchema>;

/** Who may follow whom. A final status has no successor: the first cause wins. */
const moves: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  pending: ['starting', 'killed', 'error'],
  starting: ['running', 'waiting', 'failed', 'timeout', 'killed', 'error'],
  running: ['waiting', 'completed', 'failed', 'timeout', 'killed', 'error'],
  waiting: ['running', 'completed', 'failed', 'timeout', 'killed', 'error'],
  completed: [],
  failed: [],
  timeout: [],
  killed: [],
  error: [],
};

export function canMove(from: TaskStatus, to: TaskStatus): boolean {
  return moves[from].includes(to);
}

/** The end of the reason of a task whose session waits at a dialog that is no decision. */
export const AT_TERMINAL = 'The view "screen" shows it; it is answered at the terminal.';

/** The same for a session that a person started. */
export const IN_ITS_TERMINAL = 'It is answered in the terminal of the session.';

/** The end of the reason of a task whose session waits for nothing else. */
export const WAITS_FOR_MESSAGE = 'the session waits for a message.';
/** Begins the reason of a task whose agent has answered while programs that it started still run. */
export const TURN_OVER = 'The turn is over; ';

/** True for a status that never changes again. */
export function isFinal(status: TaskStatus): boolean {
  return moves[status].length === 0;
}

export const permissionModeSchema = z.enum(approvalModes);
export type PermissionMode = z.infer<typeof permissionModeSchema>;

const driverNames = ['interactive', 'print'] as const;
export const driverNameSchema = z.enum(driverNames);
export type DriverName = z.infer<typeof driverNameSchema>;

/** `native`: a session that a person started; the bridge sees what it asks, and does not drive it. */
export const recordDriverSchema = z.enum([...driverNames, 'native']);

/** What a task is for: work in a project, or one question of a conversation. */
const taskPurposes = ['task', 'ask'] as const;
export const taskPurposeSchema = z.enum(taskPurposes);
export type TaskPurpose = z.infer<typeof taskPurposeSchema>;

export const taskIdSchema = z.string().regex(TASK_ID_PATTERN);

const questionSchema = z.object({
  question: z.string(),
  header: z.string(),
  multiSelect: z.boolean(),
  options: z.array(z.object({ label: z.string(), description: z.string().optional() })),
});

/** A field of a request that was changed by who allowed it. Long texts are cut. */
export const editSchema = z.object({ field: z.string(), asked: z.string(), allowed: z.string() });
export type DecisionEdit = z.infer<typeof editSchema>;

/** A durable question of the session, and how it was answered. Times are ISO 8601 in UTC. */
export const decisionSchema = z.object({
  decision_id: z.string().regex(DECISION_ID_PATTERN),
  kind: z.enum(approvalKinds),
  tool: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** True when the request's input is longer than `input`. */
  input_is_cut: z.boolean().optional(),
  summary: z.string(),
  options: z.array(z.string()),
  questions: z.array(questionSchema).optional(),
  /** Which rule asks, and its reason. */
  why: z.string().optional(),
  /** True when it can be allowed with another input. */
  can_edit: z.boolean().optional(),
  /** True when the caller cannot allow it: a person does, in the chat's form, a terminal or the page. */
  is_for_person: z.boolean().optional(),
  /** True when no answer leaves it to the person at the terminal, where it is otherwise a denial. */
  is_left: z.boolean().optional(),
  /** What was allowed instead of what was asked. */
  edits: z.array(editSchema).optional(),
  asked_at: z.string(),
  expires_at: z.string(),
  closed_at: z.string().nullable(),
  verdict: z.enum(['allow', 'allow_session', 'deny', 'withdrawn']).nullable(),
  /** Who answered: `rule`, `caller`, `deadline`, `terminal`, `command line`, `session`. */
  answered_by: z.string().nullable(),
  /** The rule that decided, or the words of the answer. */
  reason: z.string().nullable(),
  /** Answers of a form in the chat that came after it was closed, and changed nothing. */
  late: z.array(z.enum(['allow', 'allow_session', 'deny'])).optional(),
});
export type Decision = z.infer<typeof decisionSchema>;

/** What holds a task up, or what it failed by. Times are ISO 8601 in UTC. */
const troubleSchema = z.object({
  /** A `TroubleKind`; a newer bridge may know more of them. */
  kind: z.string(),
  since: z.string(),
  /** When the task, or Claude Code on its own, tries again; null when nothing will. */
  resumes_at: z.string().nullable(),
});

/** The form of record.json that this bridge reads and writes. */
export const RECORD_VERSION = 2;

/** `tasks/<task_id>/record.json`: all that is known of a task. Its keeper is the only writer while it lives. The defaults are those of a task that has not begun. */
export const taskRecordSchema = z.object({
  schema_version: z.literal(RECORD_VERSION),
  task_id: taskIdSchema,
  status: taskStatusSchema.default('pending'),
  status_source: z.enum(['exact', 'observed']).default('exact'),
  /** In words: why it has this status; for final ones, how it ended. */
  reason: z.string(),
  /** What the session does now, on one line. */
  activity: z.string().default(''),
  project_path: z.string(),
  /** Left out for work in a project. */
  purpose: taskPurposeSchema.optional(),
  /** True for a task of DelegateTask. */
  delegated: z.boolean().optional(),
  prompt_summary: z.string(),
  prompt_bytes: z.number(),
  permission_mode: permissionModeSchema,
  driver: recordDriverSchema,
  model: z.string().nullable(),
  keep_open: z.boolean(),
  timeout_seconds: z.number(),
  created_at: z.string(),
  started_at: z.string().nullable().default(null),
  /** When the agent was started, in milliseconds since the machine's start: durations do not follow a clock that is set. */
  started_monotonic_ms: z.number().nullable().default(null),
  ended_at: z.string().nullable().default(null),
  /** Whole seconds on the monotonic clock, fixed at the end. */
  elapsed_seconds: z.number().default(0),
  keeper: processIdentitySchema.nullable(),
  agent: processIdentitySchema.nullable().default(null),
  /** Where the keeper listens; servers of other clients may have other runtime directories. */
  socket_path: z.string(),
  /** The value of CLAUDE_CODE_BRIDGE_MARK by which every process of the task is found. */
  process_mark: z.string(),
  exit_code: z.number().nullable().default(null),
  signal: z.string().nullable().default(null),
  /** A UUID: it becomes an argument of the CLI. */
  session_id: z.guid().nullable().catch(null),
  cli_version: z.string().nullable().default(null),
  turns: z.number().default(0),
  final_message: z.string().default(''),
  /** For a question: `final_message` is the whole answer, and the session only has to be left. */
  answered: z.boolean().optional(),
  /** UUID of the assistant's last message in the session's transcript, where the CLI reported it. */
  message_id: z.guid().nullable().optional().catch(null),
  last_output: z.string().default(''),
  output_bytes: z.number().default(0),
  files_changed: z.array(z.string()).default([]),
  /** Of the session so far, in US dollars, where Claude Code reported it. */
  cost_usd: z.number().optional(),
  /** Of the session so far, of all kinds. */
  tokens: z.int().optional(),
  /** What the task may use; left out, nothing limits it. */
  budget: budgetSchema.optional(),
  /** What its caller gave it to keep to. */
  brief: briefSchema.optional(),
  /** Of the checks, as the last turn left the project. */
  checked: checkRunSchema.optional(),
  /** Whose budget was used up, for a task that was ended by it. */
  ended_by_budget: z.enum(['task', 'day']).optional(),
  /** The open ones, and the newest closed ones. */
  decisions: z.array(decisionSchema).default([]),
  /** Closed decisions that are not listed any more; the journal has them. */
  decisions_dropped: z.number().optional(),
  /** Grows with every change of status and every decision asked or closed: the cursor of `wait_for_task`. */
  change_seq: z.number().default(0),
  log_file: z.string(),
  prompt_file: z.string(),
  /** While it is there, and in the record of a task that failed by it; else null or left out. */
  trouble: troubleSchema.nullable().optional(),
  /** For a task that works in a git worktree of its own. `finish_task` writes how it ended. */
  worktree: worktreeSchema.optional(),
  /** Place in the line that a queued task waits in, from 1. Never on disk: it is computed when the record is read. */
  queue_position: z.number().int().positive().optional(),
  /** For a task that waits in the queue: how many tasks run at once by the settings of the server that was asked. */
  queue_limit: z.number().int().positive().optional(),
  /** The newest messages of callers, cut, oldest first, and what became of each. */
  messages: z
    .array(z.object({ text: z.string(), state: z.enum(['waiting', 'delivered', 'lost']) }))
    .optional(),
  /** The newest calls with a request id that the keeper took, by `requestKey`. */
  requests: z.array(z.string()).optional(),
  /** When `finish_task` took back what the task changed in a shared folder. */
  undone_at: z.string().optional(),
  /** In words, while the disk does not take what the task writes, and after it lost some: what, since when, why. */
  storage: z.string().nullable().default(null),
  /** In words, for a task of another machine that does not answer: since when, and as of when this is. Never on disk. */
  line: z.string().optional(),
  /** What its caller is told of the run when it starts, in sentences. */
  notes: z.array(z.string()).optional(),
});
export type TaskRecord = z.infer<typeof taskRecordSchema>;

/** True for a session that a person started. */
export function isNative({ driver }: Pick<TaskRecord, 'driver'>): boolean {
  return driver === 'native';
}

export function purposeOf({ purpose = 'task' }: Pick<TaskRecord, 'purpose'>): TaskPurpose {
  return purpose;
}

/** The changed files that are of the task's project; Claude Code keeps files of its own elsewhere, such as plans. */
export function projectFiles({ project_path, files_changed }: TaskRecord): string[] {
  return files_changed.filter((file) => isWithin(file, project_path));
}

/** For a task whose folder was moved or deleted. */
export function folderGoneNote({ project_path }: TaskRecord): string {
  return `The folder ${project_path} is no longer there.`;
}

/** The decisions that still wait for an answer, oldest first. */
export function openDecisions(record: TaskRecord): Decision[] {
  return record.decisions.filter((decision) => decision.closed_at === null);
}
