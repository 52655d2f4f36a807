/** Every code a caller can meet, with the sentence that explains it on the generated page `docs/errors.md`. */
export const errorCodes = {
  CONFIG_ERROR: 'A settings file, environment variable or flag holds something the bridge cannot use.',
  NO_ALLOWED_ROOTS: 'No allowed roots are set, so no path can be trusted yet.',
  INVALID_ARGUMENTS: 'The arguments of the call do not fit the tool’s input schema.',
  INVALID_PROMPT: 'The prompt is empty, too long, or holds bytes that are not text.',
  PATH_NOT_ALLOWED: 'The path is outside the allowed roots, also after links are resolved.',
  PATH_NOT_FOUND: 'Nothing exists at that path.',
  NOT_A_DIRECTORY: 'The path names something that is not a directory.',
  NOT_A_FILE: 'The path names something that is not a regular file: a directory, a pipe, a socket, a device.',
  NOT_READABLE: 'The file or directory exists and cannot be read.',
  NOT_WRITABLE: 'The file or directory cannot be written to.',
  BINARY_FILE: 'The file holds no text.',
  FILE_TOO_LARGE: 'The file is too large for what was asked of it.',
  FILE_CHANGED: 'The file is not what the call took it for: it was changed meanwhile.',
  PROTECTED_PATH:
    'What is written there runs later or instructs later sessions, so the tools do not write it.',
  NOT_A_REPOSITORY: 'The path is not in a git repository, or in one that may not be looked at.',
  REVISION_NOT_FOUND: 'The repository has no commit of that name.',
  GIT_NOT_FOUND: 'The program git was not found.',
  GIT_FAILED: 'The program git ended with a fault, too late, or with more output than is read.',
  SEARCH_FAILED: 'The files could not be searched in time.',
  WORK_DOES_NOT_FIT:
    'What a task did in its worktree does not fit what the project holds by now. Nothing was changed.',
  NO_ACTIVE_PROJECT: 'No path was given and no active project is set.',
  TASK_NOT_FOUND: 'No task has that id.',
  TASK_ALREADY_RUNNING: 'The project already has a running task; one task a project at a time.',
  TASK_NOT_RUNNING: 'The task has already ended, or has not started yet.',
  TASK_UNREACHABLE: 'The process that keeps the task does not answer.',
  INSIDE_TASK: 'The server runs inside a task, where it does not do what was asked.',
  TASK_START_FAILED: 'The task could not be started.',
  ASK_FAILED: 'Claude Code gave no answer to the question; its own words and exit code are in the message.',
  RESPONSE_NOT_FOUND: 'No answer has that id, or it is no longer kept.',
  DECISION_NOT_FOUND: 'The task has no decision with that id.',
  DECISION_CLOSED: 'The decision was already answered, withdrawn, or ran out of time.',
  SANDBOX_UNAVAILABLE:
    'Mode sandboxed was asked for, but Claude Code’s sandbox for commands cannot hold here.',
  CLAUDE_NOT_FOUND: 'The configured Claude Code command was not found.',
  CLAUDE_NOT_EXECUTABLE: 'The configured Claude Code command exists but cannot be executed.',
  CLAUDE_TOO_OLD: 'The installed Claude Code is older than the bridge can drive.',
  PROCESS_NOT_FOUND: 'No process has that pid, or it is no longer kept.',
  PROCESS_NOT_RUNNING: 'The process has ended, or belongs to another server.',
  PROCESS_UNREACHABLE: 'What keeps the process does not answer.',
  PROGRAM_NOT_FOUND: 'The program was not found, or may not be executed.',
  SPAWN_FAILED: 'The process could not be started; the words are those of the system.',
  INPUT_REFUSED: 'The process takes no input any more, or has left too much of it unread.',
  NO_TERMINAL: 'What was asked is for a process with a terminal, or for one without.',
  DOCKER_UNAVAILABLE: 'The Docker engine does not answer, or what talks to it is not installed.',
  IMAGE_NOT_FOUND: 'The Docker engine does not have the image; nothing is pulled by itself.',
  COPY_REFUSED: 'What was to be copied is too large, leaves its folder, or is of a kind that is not copied.',
  COPY_FAILED: 'The copy was broken off; the words are those of the system.',
  MESSAGE_TOO_LARGE: 'A protocol message was larger than the limit.',
  STATE_UNUSABLE: 'The state directory cannot be used (owner, mode, or the disk).',
  INTERNAL_ERROR: 'A fault in the bridge itself; the server log on stderr has the details.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/**
 * The one error class. `message` says what was asked and what is so; `hint` says what to do next.
 * Expected outcomes are values, not errors; anything thrown that is not a BridgeError is a bug.
 */
export class BridgeError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  /** For programs that read the error, beside its code: such as the id of the task that is in the way. */
  readonly data: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    hint: string,
    { data = {}, ...options }: ErrorOptions & { readonly data?: Readonly<Record<string, string>> } = {},
  ) {
    super(message, options);
    this.data = data;
    this.name = 'BridgeError';
    this.code = code;
    this.hint = hint;
  }
}

/** True for a code the bridge knows; used where codes come back from another process. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}

/** The message of anything thrown, for logs and reasons. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The system error code (`ENOENT`, `EACCES`, …) of anything thrown, or undefined. */
export function systemCodeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : undefined;
}
