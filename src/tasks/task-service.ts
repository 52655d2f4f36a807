// Pure.
import type { RuleRow } from '../approvals/modes.js';
import type { Brief, Check } from '../checks/brief.js';
import type { BridgeError } from '../base/errors.js';
import type { Disposable, Event } from '../base/lifecycle.js';
import type { DecisionAnswer, SentMessage } from './task-host.js';
import {
  isFinal,
  isNative,
  purposeOf,
  type DriverName,
  type PermissionMode,
  type TaskPurpose,
  type TaskRecord,
  type TaskStatus,
} from './task.js';
import type { TaskSpec } from './task-spec.js';

/** What becomes of a task whose project another one has; `always_worktree`: it gets a worktree in any case. */
export const conflictWays = ['error', 'queue', 'worktree', 'always_worktree'] as const;
type ConflictWay = (typeof conflictWays)[number];

/** Where the agent of a task runs. */
export const isolations = ['none', 'docker'] as const;
type Isolation = (typeof isolations)[number];

/** The bounds of a time limit that a caller sets; at most four hours. */
export const taskTimeoutSeconds = { min: 60, max: 14_400 } as const;

/** What narrows a task beyond the settings. */
export interface StartLimits {
  /** Rows that deny or ask. */
  readonly rules?: readonly RuleRow[] | undefined;
  /** The modes that are allowed there. */
  readonly modes?: readonly PermissionMode[] | undefined;
}

export interface StartTask {
  readonly prompt: string;
  /** By its name in the settings; left out, this one, or that of `continueFrom`. */
  readonly machine?: string | undefined;
  /** Left out with `continueFrom`: the directory of that task. */
  readonly path?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  /** Of the settings and of these, the smaller ones count. */
  readonly maxCostUsd?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  readonly model?: string | undefined;
  readonly driver?: DriverName | undefined;
  readonly keepOpen?: boolean | undefined;
  /** Left out, that of the task that this one continues. */
  readonly brief?: Brief | undefined;
  /** Left out, those of the task that this one continues, else those of the settings for the project. */
  readonly checks?: readonly Check[] | undefined;
  readonly untilMet?: number | undefined;
  /** By default `error`. */
  readonly onConflict?: ConflictWay | undefined;
  /** By default `none`: the agent runs on this machine. */
  readonly isolation?: Isolation | undefined;
  /** What the settings of another machine, which starts the task, add to those of this one. */
  readonly limits?: StartLimits | undefined;
  /** The caller has gone: what is being prepared for the task is left. */
  readonly signal?: AbortSignal | undefined;
  /** By default `task`. */
  readonly purpose?: TaskPurpose | undefined;
  /** Started by DelegateTask. */
  readonly delegated?: boolean | undefined;
  /** The session that the new one begins as a copy of, up to a message of it or (null) whole. */
  readonly resume?: TaskSpec['resume'];
  /** The id of a task or response that has ended, in the same directory: the session begins as a copy of its session. */
  readonly continueFrom?: string | undefined;
  /** Claude Code asks for no permission at all. */
  readonly skipPermissions?: boolean | undefined;
  /** The same task with the same id is started once, and is the answer each time. Not for questions. */
  readonly requestId?: string | undefined;
}

export interface TaskQuery {
  readonly status?: 'active' | 'finished' | TaskStatus | undefined;
  readonly path?: string | undefined;
  /** By default work in projects alone. */
  readonly purpose?: TaskPurpose | undefined;
  /** True for tasks of DelegateTask alone. */
  readonly delegated?: boolean | undefined;
  /** True for sessions that people started alone. */
  readonly native?: boolean | undefined;
  /** True for tasks of this machine alone. */
  readonly isHere?: boolean | undefined;
  /** Without it, all of them. */
  readonly limit?: number;
  readonly cursor?: string | undefined;
}

/** Whether a list has the task, as far as the path does not say. */
export function fitsQuery(record: TaskRecord, query: TaskQuery): boolean {
  return (
    hasStatus(record.status, query.status) &&
    purposeOf(record) === purposeOf(query) &&
    (query.native !== true || isNative(record)) &&
    (query.delegated !== true || record.delegated === true)
  );
}

function hasStatus(status: TaskStatus, wanted: TaskQuery['status']): boolean {
  if (wanted === 'active') return !isFinal(status);
  if (wanted === 'finished') return isFinal(status);
  return wanted === undefined || status === wanted;
}

/** A task whose record is there and cannot be read, and why in a sentence. */
export interface UnreadableTask {
  readonly task_id: string;
  readonly why: string;
}

export interface TaskPage {
  readonly tasks: readonly TaskRecord[];
  readonly unreadable?: readonly UnreadableTask[] | undefined;
  /** What is so with other machines, in sentences. */
  readonly notes?: readonly string[] | undefined;
  /** Set for a state directory of another machine: what that means, and what to do. */
  readonly foreign?: BridgeError | undefined;
  readonly cursor?: string | undefined;
}

export interface TaskWait {
  readonly taskIds: readonly string[];
  readonly timeoutMs: number;
  readonly cursor?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

export interface WaitOutcome {
  readonly tasks: readonly TaskRecord[];
  /** Ids of the tasks that changed since the cursor. */
  readonly changed: readonly string[];
  readonly cursor: string;
}

export const outputViews = ['log', 'screen', 'events'] as const;
type OutputView = (typeof outputViews)[number];

export interface OutputQuery {
  readonly taskId: string;
  readonly view: OutputView;
  readonly cursor?: string | undefined;
  readonly maxBytes: number;
}

export interface OutputPage {
  /** As it was read before the page: nothing is missing behind the last page of a task that had ended by then. */
  readonly task: TaskRecord;
  readonly text: string;
  readonly cursor: string;
  readonly more: boolean;
  readonly totalBytes?: number | undefined;
}

/**
 * Tasks as the edges see them. Each method throws BridgeError: TASK_NOT_FOUND for an unknown id, and those named; with a request id also
 * INVALID_ARGUMENTS for one that was used for another call, and OUTCOME_UNKNOWN.
 */
export interface TaskService {
  /**
   * Resolves when the agent process runs, or when the task has its place in the queue (`pending`). PATH_NOT_ALLOWED,
   * PATH_NOT_FOUND, NOT_A_DIRECTORY, INVALID_PROMPT, CLAUDE_NOT_FOUND, CLAUDE_NOT_EXECUTABLE, TASK_ALREADY_RUNNING,
   * NOT_WRITABLE, TASK_START_FAILED; nothing is left behind then.
   */
  start(input: StartTask): Promise<TaskRecord>;
  /** `elapsed_seconds` is current for a task that runs. */
  get(taskId: string): Promise<TaskRecord>;
  /** Newest first. */
  list(query: TaskQuery): Promise<TaskPage>;
  /** Resolves at the first change since the cursor, when the time is over, or when the signal aborts. */
  wait(query: TaskWait): Promise<WaitOutcome>;
  /** Resolves when every process of the task is gone; one in the queue never starts. TASK_NOT_RUNNING for one that has ended. */
  kill(taskId: string, reason: string): Promise<TaskRecord>;
  /** DECISION_NOT_FOUND, DECISION_CLOSED, TASK_NOT_RUNNING. */
  respond(taskId: string, answer: DecisionAnswer): Promise<TaskRecord>;
  /** TASK_NOT_RUNNING. */
  message(taskId: string, message: SentMessage): Promise<TaskRecord>;
  output(query: OutputQuery): Promise<OutputPage>;
  /** Ids that begin with `prefix`, newest first. */
  taskIds(prefix: string): Promise<string[]>;
  /** A task's id, whenever its record or log changed, as long as somebody watches it. */
  readonly onDidChange: Event<string>;
  /** Keeps `onDidChange` firing for one task, or for all that are active. */
  watch(taskId: string): Disposable;
}
