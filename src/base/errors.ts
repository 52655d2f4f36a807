// Pure.
/** Every error code, with the sentence that explains it on the generated page `docs/errors.md`. */
export const errorCodes = {
  CONFIG_ERROR: 'A settings file, environment variable or flag holds a value the bridge cannot use.',
  NO_ALLOWED_ROOTS: 'No allowed roots are set, so no path can be trusted yet.',
  INVALID_ARGUMENTS: 'The arguments do not match the tool’s input schema.',
  INVALID_PROMPT: 'The prompt is empty, too long, or holds bytes that are not text.',
  PATH_NOT_ALLOWED: 'The path is outside the allowed roots, or a link leads out of them.',
  PATH_NOT_FOUND: 'Nothing exists at that path.',
  NOT_A_DIRECTORY: 'The path is not a directory.',
  NOT_A_FILE: 'The path is not a regular file but a directory, a pipe, a socket or a device.',
  NOT_READABLE: 'The file or directory exists but cannot be read.',
  NOT_WRITABLE: 'The file or directory cannot be written to.',
  BINARY_FILE: 'The file is not text.',
  FILE_TOO_LARGE: 'The file is too large for this operation.',
  FILE_CHANGED: 'The file was changed or replaced during the call.',
  PROTECTED_PATH:
    'Files at this path can run later or instruct later sessions, so the tools do not write them.',
  NOT_A_REPOSITORY: 'The path is not in a git repository, or the repository may not be read.',
  REVISION_NOT_FOUND: 'The repository has no commit with that name.',
  GIT_NOT_FOUND: 'The program git was not found.',
  GIT_FAILED: 'The program git failed, took too long, or printed more than the bridge reads.',
  SEARCH_FAILED: 'The program ripgrep is missing or failed, or the files could not be listed in time.',
  WORK_DOES_NOT_FIT:
    'The changes in a task’s worktree conflict with the project as it is now. Nothing was changed.',
  NO_ACTIVE_PROJECT: 'No path was given and no active project is set.',
  TASK_NOT_FOUND: 'No task has that id.',
  TASK_ALREADY_RUNNING: 'The project already has a running task; each project runs one at a time.',
  TASK_NOT_RUNNING: 'The task has already ended, or has not started yet.',
  NATIVE_SESSION: 'A person started the session; only that person ends it, types into it and continues it.',
  TASK_UNREACHABLE: 'The keeper of the task does not answer.',
  INSIDE_TASK: 'The server runs inside a task, where this is not allowed.',
  BUDGET_USED: 'The budget of the day (`day_budget`) is used up, so no task starts.',
  TASK_START_FAILED: 'The task could not be started.',
  ASK_FAILED: 'Claude Code did not answer the question; the message holds its output and exit code.',
  RESPONSE_NOT_FOUND: 'No answer has that id, or it is no longer stored.',
  DECISION_NOT_FOUND: 'The task has no decision with that id.',
  DECISION_CLOSED: 'The decision was already answered or withdrawn, or it timed out.',
  SANDBOX_UNAVAILABLE:
    'The mode sandboxed was requested, but Claude Code’s sandbox for commands does not work here.',
  PROJECT_SETTINGS_UNREADABLE:
    'A settings file of the project cannot be read, so its rules could not be held.',
  CLAUDE_NOT_FOUND: 'The configured Claude Code command was not found.',
  CLAUDE_NOT_EXECUTABLE: 'The configured Claude Code command exists but cannot be executed.',
  CLAUDE_TOO_OLD: 'The installed Claude Code is too old for the bridge.',
  PROCESS_NOT_FOUND: 'No process has that pid, or the bridge no longer remembers it.',
  PROCESS_NOT_RUNNING: 'The process has ended, or belongs to another server.',
  PROCESS_UNREACHABLE: 'The keeper of the process does not answer.',
  PROGRAM_NOT_FOUND: 'The program was not found or may not be executed.',
  SPAWN_FAILED: 'The process could not be started; the message holds the system’s error.',
  INPUT_REFUSED: 'The process accepts no more input, or has left too much of it unread.',
  NO_TERMINAL: 'The call needs a process with a terminal and this one has none, or the other way round.',
  DOCKER_UNAVAILABLE: 'No Docker engine answers, or the one that is named cannot be used.',
  IMAGE_NOT_FOUND: 'The Docker engine does not have the image; images are not pulled automatically.',
  COPY_REFUSED:
    'The files are too large to copy, lead out of their folder, or are of a kind that is not copied.',
  COPY_FAILED: 'The copy was interrupted; the message holds the system’s error.',
  EDITOR_NOT_FOUND: 'No window of VS Code with the extension is open, or none with that folder.',
  EDITOR_UNREACHABLE: 'The window of VS Code does not answer, or the connection to it was lost.',
  EDITOR_VERSION: 'The extension in VS Code and the bridge are of versions that do not go together.',
  UNTRUSTED_WORKSPACE: 'The user has not trusted the workspace of the window, so nothing is run in it.',
  TERMINAL_NOT_FOUND: 'No terminal in VS Code has that id, or it was closed.',
  TERMINAL_BUSY: 'A command runs in the terminal, and a second one would interrupt it.',
  TERMINAL_CLOSED: 'The terminal was closed during the call.',
  TERMINAL_FAILED: 'VS Code could not make the terminal, or the command in it did not begin.',
  NO_SHELL_INTEGRATION: 'The shell of the terminal does not report where commands begin and end.',
  MESSAGE_TOO_LARGE: 'A protocol message was larger than the limit.',
  STATE_UNUSABLE: 'The state directory cannot be used (owner, mode, or the disk).',
  RESTART_NEEDED: 'The files of the running server were replaced or removed, as by an update: restart it.',
  INTERNAL_ERROR: 'An error in the bridge itself; the server log on stderr has the details.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** How each step is said everywhere, and the tool that takes it. */
const steps = {
  answer: ['answer it', 'respond_to_task'],
  choose: ['choose the active project first', 'set_active_project'],
  continue: ['go on from it', 'start_task and continue_from'],
  end: ['end it', 'kill_task'],
  list: ['see which tasks there are', 'list_tasks'],
  message: ['send it a message', 'message_task'],
  result: ['see what is there now, and the id for reviewed', 'get_task_result'],
  screen: ['look at its screen', 'get_task_output'],
  start: ['start a new task', 'start_task'],
  status: ['look at its status', 'get_task_status'],
  wait: ['wait for it', 'wait_for_task'],
} as const satisfies Readonly<Record<string, readonly [string, string]>>;

export type StepName = keyof typeof steps;

/** What may be done next, with the task of that id where one is named. */
export interface Step {
  readonly do: StepName;
  readonly task?: string | undefined;
}

/** Sentences, and between them steps of which any will do. */
export type Next = readonly (string | Step)[];

/** True for what another process calls a step. */
export function isStepName(name: string): name is StepName {
  return Object.hasOwn(steps, name);
}

/** The tool that takes a step, for the sentence about it; empty where that is not offered. */
export function byTool({ do: name, task }: Step, offers: (tool: string) => boolean = () => true): string {
  const [, how] = steps[name];
  if (!offers(how.split(' ', 1)[0] ?? '')) return '';
  return ` with ${how}${task === undefined ? '' : ` ${task}`}`;
}

/** What to do next in the words of one surface: `by` says how a step is taken there. */
export function nextWords(next: Next, by: (step: Step) => string = () => ''): string {
  const sentences: string[] = [];
  let ways: string[] = [];
  const finish = (): void => {
    const last = ways.pop();
    if (last === undefined) return;
    const words = ways.length === 0 ? last : `${ways.join(', ')}, or ${last}`;
    sentences.push(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`);
    ways = [];
  };
  for (const one of next) {
    if (typeof one !== 'string') ways.push(`${steps[one.do][0]}${by(one)}`);
    else {
      finish();
      if (one !== '') sentences.push(one);
    }
  }
  finish();
  return sentences.join(' ');
}

/**
 * The one error class. `message` says what was asked and what is so; `next` says what to do, and `hint` says it to a model.
 * Expected outcomes are values, not errors; anything thrown that is not a BridgeError is a bug.
 */
export class BridgeError extends Error {
  readonly code: ErrorCode;
  readonly next: Next;
  /** For programs that read the error: details such as the id of the task that holds the project. */
  readonly data: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    next: string | Next,
    { data = {}, ...options }: ErrorOptions & { readonly data?: Readonly<Record<string, string>> } = {},
  ) {
    super(message, options);
    this.data = data;
    this.name = 'BridgeError';
    this.code = code;
    this.next = typeof next === 'string' ? [next] : next;
  }

  get hint(): string {
    return nextWords(this.next, (step) => byTool(step));
  }
}

/** What Node.js says of a part of the bridge that is no longer there. Each part is loaded when it is first needed. */
const GONE: ReadonlySet<string | undefined> = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/** The error for `what` whose files are gone. */
export function restartNeeded(what: string, cause?: unknown): BridgeError {
  return new BridgeError(
    'RESTART_NEEDED',
    `${what} cannot run: the files of this server were replaced or removed while it ran, as by an update.`,
    'Ask the user to restart the server in the client. Running tasks go on, and the new server has them.',
    { cause },
  );
}

/** The error for anything thrown while `what` ran: a BridgeError itself, else RESTART_NEEDED or INTERNAL_ERROR. */
export function bridgeErrorOf(thrown: unknown, what: string): BridgeError {
  if (thrown instanceof BridgeError) return thrown;
  if (GONE.has(systemCodeOf(thrown))) return restartNeeded(what, thrown);
  return new BridgeError(
    'INTERNAL_ERROR',
    `${what} failed with an internal error of the bridge.`,
    'The server log (stderr) has the details. Calling again may work.',
    { cause: thrown },
  );
}

/** Used where codes come from another process. */
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

/** For `catch`: returns undefined for any error of the system and rethrows any other error. */
export function ignoreSystemError(error: unknown): undefined {
  if (systemCodeOf(error) === undefined) throw error;
}

/** For `catch`: returns undefined for a file that is not there, or no longer, and rethrows any other error. */
export function ignoreMissing(error: unknown): undefined {
  if (!['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error) ?? '')) throw error;
}

/** For `catch`: returns undefined for a BridgeError and rethrows any other error. */
export function ignoreBridgeError(error: unknown): undefined {
  if (!(error instanceof BridgeError)) throw error;
}

/** Errors that come from the machine or the settings, and not from the call: `doctor` has more about them. */
const FOR_DOCTOR: ReadonlySet<ErrorCode> = new Set([
  'CLAUDE_NOT_FOUND',
  'CLAUDE_NOT_EXECUTABLE',
  'CLAUDE_TOO_OLD',
  'CONFIG_ERROR',
  'NO_ALLOWED_ROOTS',
  'STATE_UNUSABLE',
]);

export function isForDoctor(code: ErrorCode): boolean {
  return FOR_DOCTOR.has(code);
}

/** Leads a person to `doctor`; `command` is how they run this program. */
export function doctorSentence(command: string): string {
  return `\`${command} doctor\` shows what is wrong.`;
}
