// Pure.
import { z } from 'zod';
import type { Event, Disposable } from '../base/lifecycle.js';
import type { Lock } from '../store/project-lock.js';
import type { TaskRecord } from './task.js';
import type { TaskSpec } from './task-spec.js';

/** Who answers by a tool of the chat: a model. */
export const BY_CALLER = 'caller';
/** Who answers by a form of the chat. */
export const BY_FORM = 'elicitation';

/** What a caller calls a request, so that it is done once. */
export const requestIdSchema = z.string().min(1).max(100);

export const decisionAnswerSchema = z.object({
  decision_id: z.string(),
  verdict: z.enum(['allow', 'allow_session', 'deny']),
  message: z.string().optional(),
  /** For questions: each question's text (or its header) to the chosen label, labels joined by `, `, or free text. */
  answers: z.record(z.string(), z.string()).optional(),
  /** Who answers, for the record. */
  by: z.string(),
  /** The same answer with the same id counts once, and is accepted each time. */
  request_id: requestIdSchema.optional(),
});
export type DecisionAnswer = z.infer<typeof decisionAnswerSchema>;

export interface ScreenText {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

/** A message to a session, or the interrupt of its turn, or both. */
export interface SentMessage {
  readonly text?: string | undefined;
  readonly interrupt?: boolean | undefined;
  /** Who interrupts, as the journal names them; by default the caller. */
  readonly by?: string | undefined;
  /** The same message with the same id is sent once. */
  readonly requestId?: string | undefined;
}

/** A running task as its callers see it, through the keeper's socket. What has the same `request` is done once. */
export interface TaskLink extends Disposable {
  /** The record: once at first, and once at the end of the task. */
  readonly onRecord: Event<TaskRecord>;
  /** Throws BridgeError DECISION_NOT_FOUND or DECISION_CLOSED. */
  respond(answer: DecisionAnswer, request?: string): Promise<TaskRecord>;
  /** Throws BridgeError TASK_NOT_RUNNING. */
  message(message: SentMessage, request?: string): Promise<TaskRecord>;
  /** Resolves with the final record when every process of the task is gone. */
  kill(reason: string): Promise<TaskRecord>;
  screen(): Promise<ScreenText>;
}

/** What it takes to reach a task. */
export type KeptTaskName = Pick<TaskRecord, 'task_id'> & Partial<Pick<TaskRecord, 'socket_path'>>;

/** Starts tasks and reaches running ones. */
export interface TaskHost {
  /**
   * Starts the task whose spec and prompt lie in the state directory, and hands its keeper the lease of the project, which a question
   * lacks. Resolves when the agent process runs. Throws BridgeError (CLAUDE_NOT_FOUND, …); nothing is left behind then.
   */
  launch(spec: TaskSpec, lease?: Lock): Promise<TaskRecord>;
  /**
   * A link to a running task, or undefined when no keeper lives for it. Without `socket_path`, where its record cannot be
   * read, the keeper is looked for where this host's own would listen.
   */
  connect(task: KeptTaskName): Promise<TaskLink | undefined>;
}
