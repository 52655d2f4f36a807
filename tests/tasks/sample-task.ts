import type { GitReport, Receipt } from '../../src/tasks/receipt/receipt.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { initialRecord } from '../../src/tasks/record/initial-record.js';
import type { TaskSpec } from '../../src/tasks/task-spec.js';
import type { Worktree } from '../../src/tasks/worktree-maker.js';

export const TASK_ID = 'task_0123456789abcdef0123';

/** The worktree of a task of `project`. */
export function sampleWorktree(project = '/p', name = TASK_ID): Worktree {
  return {
    project_path: project,
    repository: project,
    path: `${project}/.claude/worktrees/${name}`,
    branch: `claude/${name}`,
    base_commit: 'a'.repeat(40),
    notes: [],
  };
}

export function sampleSpec(
  overrides: Partial<Omit<TaskSpec, 'settings'>> & { readonly settings?: Partial<TaskSpec['settings']> } = {},
): TaskSpec {
  return {
    task_id: TASK_ID,
    project_path: '/projects/app',
    permission_mode: 'cautious',
    driver: 'interactive',
    model: null,
    keep_open: false,
    timeout_seconds: 3600,
    created_at: '2026-01-01T00:00:00.000Z',
    ...overrides,
    settings: {
      shell: '/bin/sh',
      claude_command: ['/usr/bin/claude'],
      auto_approve_patterns: ['\\[y/N\\]'],
      decision_timeout_seconds: 600,
      max_log_size_bytes: 1_000_000,
      pass_environment: [],
      ...overrides.settings,
    },
  };
}

export function sampleRecord(more: Partial<TaskRecord> = {}, spec = sampleSpec()): TaskRecord {
  return {
    ...initialRecord({
      spec,
      prompt: 'Do it.',
      owner: { pid: process.pid, start_time: '1', boot_id: 'boot' },
      mark: 'a-mark',
      socketPath: '/run/task.sock',
      files: { logFile: '/projects/app/task.log', promptFile: '/projects/app/prompt.md' },
    }),
    ...more,
  };
}

type SeenByGit = Extract<GitReport, { readonly state: 'repository' }>;

export function sampleGitReport(more: Partial<SeenByGit> = {}): SeenByGit {
  return {
    state: 'repository',
    repository: '/home/ann/app',
    ignored: [],
    notes: [],
    branch_before: 'main',
    branch_after: 'main',
    head_before: null,
    head_after: null,
    commits: [],
    commits_total: 0,
    files: [],
    files_total: 0,
    insertions: 0,
    deletions: 0,
    dirty_before: { count: 0, untouched: [], changed: [], committed: [] },
    uncommitted: 0,
    ...more,
  };
}

export function sampleReceipt(more: Partial<Receipt> = {}): Receipt {
  return {
    version: 1,
    task_id: 'task_0123456789abcdef0123',
    status: 'completed',
    reason: 'The agent finished its work.',
    complete: true,
    notes: [],
    made_at: '2030-01-01T00:00:00.000Z',
    final_message: 'Done.',
    turns: 1,
    duration_seconds: 2,
    exit_code: 0,
    model: null,
    cli_version: null,
    usage: { source: 'unknown', models: [], cost_usd: 'unknown' },
    commands_source: 'journal',
    commands: [],
    commands_total: 0,
    commands_failed: 0,
    files: [],
    files_total: 0,
    sensitive_files: [],
    git: { state: 'none', why: 'no repository' },
    decisions: [],
    denials: [],
    denials_total: 0,
    ...more,
  };
}
