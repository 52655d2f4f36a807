// Pure.
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import type { AllowedPath } from '../projects/allowed-roots.js';
import type { TaskService, TaskWait } from '../tasks/task-service.js';
import {
  isFinal,
  openDecisions,
  type PermissionMode,
  type TaskRecord,
  type TaskStatus,
} from '../tasks/task.js';
import { sessionLeft, WaitCursor } from '../tasks/watch/task-waiter.js';

const RESPONSE_ID_PATTERN = /^response_[0-9a-f]{20}$/;
const MAX_SHOWN_CHARS = 60;

export interface Question {
  readonly prompt: string;
  /** The answer after which this question comes; any earlier one, however many have followed it. */
  readonly previousResponseId?: string | undefined;
  /** By default that of the previous response, else the active project. */
  readonly workingDirectory?: string | undefined;
  readonly model?: string | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  readonly maxTokens?: number | undefined;
}

export interface ConversationManagerOptions {
  readonly tasks: Pick<TaskService, 'start' | 'get' | 'wait' | 'kill' | 'list'>;
  /** Checks a directory, or the active project when none is given. Throws PATH_NOT_ALLOWED, NO_ACTIVE_PROJECT, … */
  readonly project: { resolve(path?: string, argument?: string): Promise<AllowedPath> };
  readonly clock: Clock;
  /** Claude Code asks for no permission at all in conversations: the user's explicit setting. */
  readonly skipPermissions: boolean;
}

/**
 * Questions and answers that branch. Each question runs as a task of its own, in print mode, in a session that begins as a
 * copy of the conversation up to the response it follows: so no answer changes an earlier one, all of them can be continued
 * again, and they outlive server and client as tasks do.
 */
export class ConversationManager {
  readonly #options: ConversationManagerOptions;

  constructor(options: ConversationManagerOptions) {
    this.#options = options;
  }

  /**
   * Asks, and resolves when Claude Code works on it. Throws RESPONSE_NOT_FOUND, INVALID_ARGUMENTS for a response that was
   * never given or a directory that is not the conversation's, and all that TaskService.start throws.
   */
  async ask({
    previousResponseId,
    workingDirectory,
    permissionMode,
    ...question
  }: Question): Promise<TaskRecord> {
    const { tasks, project, skipPermissions } = this.#options;
    const previous = previousResponseId === undefined ? undefined : await this.#response(previousResponseId);
    const path = await project.resolve(workingDirectory ?? previous?.project_path, 'workingDirectory');
    if (previous !== undefined && path !== previous.project_path)
      throw elsewhere(previousResponseId ?? '', previous, path);
    return tasks.start({
      ...question,
      path,
      purpose: 'ask',
      driver: 'print',
      // Without questions nothing is held but what the project allows in auto.
      permissionMode: permissionMode ?? (skipPermissions ? 'auto' : undefined),
      skipPermissions,
      resume: previous && { sessionId: previous.session_id, messageId: previous.message_id ?? null },
    });
  }

  /** The record when it has its answer or has ended, when it waits for a decision, or when the time is over. Throws TASK_NOT_FOUND. */
  async answer(
    taskId: string,
    wait: Pick<TaskWait, 'timeoutMs' | 'signal' | 'onProgress'>,
  ): Promise<TaskRecord> {
    const { tasks, clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + wait.timeoutMs;
    // Every change counts, not only the end: an answer comes before it.
    for (let cursor = WaitCursor.beforeAll([taskId]); ;) {
      const timeoutMs = Math.max(0, deadlineMs - clock.monotonicMs());
      const outcome = await tasks.wait({ ...wait, taskIds: [taskId], timeoutMs, cursor });
      const [record] = outcome.tasks;
      if (record === undefined) throw new Error('a wait for one task answered without it');
      cursor = outcome.cursor;
      const isOver = wait.signal.aborted || clock.monotonicMs() >= deadlineMs;
      if (isOver || isFinal(record.status) || hasResponse(record) || openDecisions(record).length > 0)
        return record;
    }
  }

  /** Throws TASK_NOT_FOUND, also for a task that is no question. */
  async status(taskId: string): Promise<TaskRecord> {
    const record = await this.#options.tasks.get(taskId);
    if (record.purpose === 'ask') return record;
    throw new BridgeError('TASK_NOT_FOUND', `${taskId} is a task; it is not a question.`, [
      { do: 'status', task: taskId },
    ]);
  }

  /** The newest questions, newest first. */
  async recent(limit: number): Promise<readonly TaskRecord[]> {
    return (await this.#options.tasks.list({ purpose: 'ask', limit })).tasks;
  }

  /** Ends a question that has no answer yet. Throws TASK_NOT_FOUND, TASK_NOT_RUNNING. */
  async cancel(taskId: string, reason: string): Promise<TaskRecord> {
    const record = await this.status(taskId);
    if (!isFinal(record.status)) return this.#options.tasks.kill(taskId, reason);
    throw new BridgeError(
      'TASK_NOT_RUNNING',
      `The question ${taskId} is ${statusOfAsk(record)} already: ${record.reason}`,
      'Nothing was changed.',
    );
  }

  async #response(responseId: string): Promise<TaskRecord & { readonly session_id: string }> {
    const { tasks } = this.#options;
    const record = await tasks.get(taskIdOfResponse(responseId)).catch((error: unknown) => {
      if (!(error instanceof BridgeError) || error.code !== 'TASK_NOT_FOUND') throw error;
      throw new BridgeError(
        'RESPONSE_NOT_FOUND',
        `The response ${responseId} does not exist, or was removed: the newest 200 answers are stored.`,
        'Use a responseId from a newer answer, or omit previousResponseId to start a new conversation.',
      );
    });
    const { session_id } = record;
    if (hasResponse(record) && session_id !== null) {
      await sessionLeft(record, (query) => tasks.wait(query));
      return { ...record, session_id };
    }
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${responseId} has no answer: its question is ${record.status} (${record.reason}).`,
      'Continue from a response that has an answer.',
    );
  }
}

/** The task that gave the response. Throws RESPONSE_NOT_FOUND for text that cannot be a response's id. */
function taskIdOfResponse(responseId: string): string {
  if (RESPONSE_ID_PATTERN.test(responseId)) return responseId.replace(/^response_/, 'task_');
  throw new BridgeError(
    'RESPONSE_NOT_FOUND',
    `Unknown response ${oneLine(JSON.stringify(responseId), MAX_SHOWN_CHARS)}. A response id looks like response_0123456789abcdef0123.`,
    'Use a responseId from an earlier answer, or omit previousResponseId to start a new conversation.',
  );
}

/** The id of the response that the task gave; undefined when it has none (yet). */
export function responseOf(record: TaskRecord): string | undefined {
  return hasResponse(record) ? record.task_id.replace(/^task_/, 'response_') : undefined;
}

/** A turn that was finished is a response, whatever became of the session afterwards. */
function hasResponse(record: TaskRecord): boolean {
  return (record.status === 'completed' || record.answered === true) && record.session_id !== null;
}

/** What is answered is completed for who asked, also while its session is being left. */
export function statusOfAsk(record: TaskRecord): TaskStatus | 'cancelled' {
  if (hasResponse(record)) return 'completed';
  return record.status === 'killed' ? 'cancelled' : record.status;
}

function elsewhere(responseId: string, { project_path }: TaskRecord, path: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `The conversation of ${responseId} belongs to ${project_path}, but workingDirectory is ${path}. Claude Code stores conversations by directory.`,
    'Omit workingDirectory to continue the conversation, or omit previousResponseId to start a new one.',
  );
}
