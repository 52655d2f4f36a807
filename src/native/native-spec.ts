import type { TaskSpec } from '../tasks/task-spec.js';

const NO_LIMIT = 0;

/** What the spec of a task would be for a session that a person started. */
export function nativeSpec(parts: {
  readonly taskId: string;
  readonly project: string;
  readonly createdAt: string;
  readonly settings?: Partial<TaskSpec['settings']>;
}): TaskSpec {
  return {
    task_id: parts.taskId,
    project_path: parts.project,
    permission_mode: 'cautious',
    driver: 'native',
    model: null,
    keep_open: true,
    timeout_seconds: NO_LIMIT,
    created_at: parts.createdAt,
    settings: {
      shell: '',
      claude_command: ['claude'],
      auto_approve_patterns: [],
      decision_timeout_seconds: 1,
      max_log_size_bytes: 1,
      pass_environment: [],
      ...parts.settings,
    },
  };
}
