// Pure: the record of a task that has not begun.
import { oneLine } from '../../base/text.js';
import type { ProcessIdentity } from '../../store/process-place.js';
import { unknownYet } from '../../checks/result.js';
import { RECORD_VERSION, taskRecordSchema, type TaskRecord } from '../task.js';
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
  /** What its caller is told of the run. */
  readonly notes?: readonly string[];
}): TaskRecord {
  const { spec, prompt, owner, mark, socketPath, files, notes = [] } = parts;
  return taskRecordSchema.parse({
    schema_version: RECORD_VERSION,
    // Of the spec the record takes what it has a field for.
    ...spec,
    purpose: spec.purpose ?? 'task',
    checked: spec.checks === undefined ? undefined : unknownYet(spec.checks),
    delegated: spec.delegated === true ? true : undefined,
    reason: 'The task was accepted.',
    prompt_summary: spec.prompt_summary ?? promptSummary(prompt),
    prompt_bytes: Buffer.byteLength(prompt),
    keeper: owner,
    socket_path: socketPath,
    process_mark: mark,
    log_file: files.logFile,
    prompt_file: files.promptFile,
    notes: notes.length > 0 ? notes : undefined,
  });
}

/** A prompt as a record has it. */
export function promptSummary(prompt: string): string {
  return oneLine(prompt.trim(), PROMPT_SUMMARY_CHARS);
}
