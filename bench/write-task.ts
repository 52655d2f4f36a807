import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTaskId } from '../src/base/task-id.js';
import { initialRecord } from '../src/tasks/record/initial-record.js';
import type { TaskRecord } from '../src/tasks/task.js';
import type { Workplace } from './workplace.js';

/** Writes the record of a task whose keeper is dead; gives its id and its folder. */
export function writeTask(
  workplace: Workplace,
  changes: Partial<TaskRecord>,
): { readonly task_id: string; readonly folder: string } {
  const task_id = createTaskId();
  const folder = join(workplace.folder, 'state', 'tasks', task_id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const project_path = workplace.project('app');
  const record = initialRecord({
    spec: {
      task_id,
      project_path,
      permission_mode: 'auto',
      driver: 'interactive',
      model: null,
      keep_open: false,
      timeout_seconds: 3_600,
      created_at: new Date().toISOString(),
      settings: {
        shell: '/bin/sh',
        claude_command: ['/bin/true'],
        auto_approve_patterns: [],
        decision_timeout_seconds: 600,
        max_log_size_bytes: 1_000_000,
        pass_environment: [],
      },
    },
    prompt: 'Do it.',
    owner: { pid: 1, start_time: 'never', boot_id: 'an earlier boot' },
    mark: task_id,
    socketPath: join(workplace.folder, 'none.sock'),
    files: { logFile: join(project_path, 'task.log'), promptFile: join(project_path, 'prompt.md') },
    now: Date.now(),
  });
  writeFileSync(join(folder, 'record.json'), JSON.stringify({ ...record, ...changes }));
  return { task_id, folder };
}
