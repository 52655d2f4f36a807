import { uuidOfTask } from './delegated-id.js';
import type { TaskSpec } from './task-spec.js';

/** The number that the specification of DelegateTask names; Claude Code does not read the variable. */
const MAX_TOKENS = 100_000;

/** Pure: the variables that the program of a task of DelegateTask gets; none for other tasks. */
export function delegatedEnvironment({
  delegated,
  task_id,
  timeout_seconds,
}: Pick<TaskSpec, 'delegated' | 'task_id' | 'timeout_seconds'>): Readonly<Record<string, string>> {
  if (delegated !== true) return {};
  return {
    CLAUDE_CODE_TASK_ID: uuidOfTask(task_id),
    CLAUDE_CODE_TIMEOUT: String(timeout_seconds * 1_000),
    CLAUDE_CODE_MAX_TOKENS: String(MAX_TOKENS),
  };
}
