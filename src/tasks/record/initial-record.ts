// Pure: the record of a task that has not begun.
import { oneLine } from '../../base/text.js';
import type { ProcessIdentity } from '../../store/process-place.js';
import { RECORD_VERSION, type TaskRecord } from '../task.js';
import type { TaskSpec } from '../task-spec.js';

const PROMPT_SUMMARY_CHARS = 300;

export function initialRecord(parts: {
  readonly spec: Omit<TaskSpec, 'settings'> & { readonly settings?: unknown };
  readonly prompt: string;
  /** Null for a task that no keeper has yet. */
  readonly owner: ProcessIdentity | null;
  readonly mark: string;
  readonly socketPath: string;
  readonly files: { readonly logFile: string; readonly promptFile: string };
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What its caller is told of the run. */
  readonly notes?: readonly string[];
}): TaskRecord {
  const { spec, prompt, owner, mark, socketPath, files } = parts;
  return {
    schema_version: RECORD_VERSION,
    task_id: spec.task_id,
    status: 'pending',
    status_source: 'exact',
    reason: 'The task was accepted.',
    activity: '',
    project_path: spec.project_path,
    purpose: spec.purpose ?? 'task',
    ...(spec.delegated === true && { delegated: true }),
    prompt_summary: promptSummary(prompt),
    prompt_bytes: Buffer.byteLength(prompt),
    permission_mode: spec.permission_mode,
    driver: spec.driver,
    model: spec.model,
    keep_open: spec.keep_open,
    timeout_seconds: spec.timeout_seconds,
    ...(spec.budget !== undefined && { budget: spec.budget }),
    created_at: spec.created_at,
    started_at: null,
    started_monotonic_ms: null,
    ended_at: null,
    elapsed_seconds: 0,
    keeper: owner,
    agent: null,
    socket_path: socketPath,
    process_mark: mark,
    exit_code: null,
    signal: null,
    session_id: null,
    cli_version: null,
    turns: 0,
    final_message: '',
    last_output: '',
    output_bytes: 0,
    files_changed: [],
    decisions: [],
    change_seq: 0,
    log_file: files.logFile,
    prompt_file: files.promptFile,
    ...(spec.worktree !== undefined && { worktree: spec.worktree }),
    storage: null,
    ...(parts.notes !== undefined && parts.notes.length > 0 && { notes: [...parts.notes] }),
  };
}

/** A prompt as a record has it. */
export function promptSummary(prompt: string): string {
  return oneLine(prompt.trim(), PROMPT_SUMMARY_CHARS);
}
