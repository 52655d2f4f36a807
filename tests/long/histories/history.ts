import type { TaskStatus } from '../../../src/tasks/task.js';

/** What one answer says of one task. */
export interface SeenTask {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly project?: string;
  /** Of a final status: all that the answer says of the end, such as reason and time. */
  readonly end?: Readonly<Record<string, unknown>>;
}

export type Answer =
  | {
      readonly kind: 'tasks';
      readonly tasks: readonly SeenTask[];
      /** Ids of tasks that the answer names as unreadable. */
      readonly unreadable?: readonly string[];
      /** True for a list of all tasks there are. */
      readonly isWholeList?: boolean;
    }
  | { readonly kind: 'refused'; readonly code: string; readonly text: string }
  /** The server was killed, or gave no answer in time: what was asked may have been done or not. */
  | { readonly kind: 'none'; readonly why: string };

/** A decision of the scripted agent: which agent asks, and its how-many-th question it is. */
export interface AskedStep {
  readonly label: string;
  readonly step: number;
}

/** One call of one client. Times are milliseconds of one monotonic clock. */
export interface Call {
  readonly server: string;
  readonly tool: string;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly answer: Answer;
  readonly taskId?: string;
  /** Of `start_task`. */
  readonly label?: string;
  /** Of `respond_to_task`. */
  readonly response?: AskedStep & { readonly decisionId: string; readonly verdict: 'allow' | 'deny' };
  /** True for what is read when no error acts any more and every task should have its end. */
  readonly atEnd?: boolean;
}

/** What an agent wrote into the one file of its project, in the order of the file. */
export type AgentMark = { readonly project: string; readonly label: string } & (
  | { readonly mark: 'begin' }
  /** It began, and another agent had the project's file lock. */
  | { readonly mark: 'overlap' }
  | { readonly mark: 'answer'; readonly step: number; readonly text: string }
  | { readonly mark: 'end' }
);

export interface History {
  readonly calls: readonly Call[];
  readonly marks: readonly AgentMark[];
}
