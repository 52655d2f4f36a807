// Pure.
import { BridgeError, type ErrorCode } from '../base/errors.js';
import { isMet } from '../checks/result.js';
import type { TaskRecord, TaskStatus } from '../tasks/task.js';

/** What the commands exit with; `docs/guide.md` has the same list. 64 to 78 are those of sysexits.h, 124 and 130 those of a shell. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** `doctor` has found errors. */
  errorsFound: 2,
  badCommandLine: 64,
  notFound: 66,
  unavailable: 69,
  outputLost: 74,
  busy: 75,
  notAllowed: 77,
  badSettings: 78,
  timeout: 124,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const ofErrors: Partial<Record<ErrorCode, ExitCode>> = {
  CONFIG_ERROR: exitCodes.badSettings,
  NO_ALLOWED_ROOTS: exitCodes.badSettings,
  INVALID_ARGUMENTS: exitCodes.badCommandLine,
  INVALID_PROMPT: exitCodes.badCommandLine,
  PATH_NOT_ALLOWED: exitCodes.notAllowed,
  INSIDE_TASK: exitCodes.notAllowed,
  PATH_NOT_FOUND: exitCodes.notFound,
  NOT_A_DIRECTORY: exitCodes.notFound,
  DECISION_NOT_FOUND: exitCodes.notFound,
  TASK_NOT_FOUND: exitCodes.notFound,
  MACHINE_NOT_FOUND: exitCodes.notFound,
  TASK_UNREACHABLE: exitCodes.unavailable,
  MACHINE_UNREACHABLE: exitCodes.unavailable,
  CLAUDE_NOT_FOUND: exitCodes.unavailable,
  CLAUDE_NOT_EXECUTABLE: exitCodes.unavailable,
  TASK_ALREADY_RUNNING: exitCodes.busy,
};

/** The person pressed Ctrl-C at a question. */
export class Cancelled extends Error {
  override readonly message = 'Cancelled: nothing was written.';
}

/** For a command that ended with an error. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof Cancelled) return exitCodes.interrupted;
  return (error instanceof BridgeError ? ofErrors[error.code] : undefined) ?? exitCodes.failed;
}

const ofEnds: Partial<Record<TaskStatus, ExitCode>> = {
  completed: exitCodes.done,
  timeout: exitCodes.timeout,
  killed: exitCodes.interrupted,
};

/** For a command that followed a task to its end; a completed one has failed where its checks are not all met. */
export function exitCodeOfEnd({ status, checked }: Pick<TaskRecord, 'status' | 'checked'>): ExitCode {
  const code = ofEnds[status] ?? exitCodes.failed;
  return code === exitCodes.done && checked !== undefined && !isMet(checked) ? exitCodes.failed : code;
}
