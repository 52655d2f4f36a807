// Pure.
/** Every error code, with the sentence that explains it on the generated page `docs/errors.md`. */
export const errorCodes = {
  CONFIG_ERROR: 'A settings file, environment variable or flag holds a value that the bridge cannot use.',
  NO_ALLOWED_ROOTS: 'No allowed roots are set.',
  INVALID_ARGUMENTS: 'The arguments do not match the tool’s schema.',
  INVALID_PROMPT: 'The prompt is empty, too long, or not text.',
  PATH_NOT_ALLOWED: 'The path, or a link in it, leads out of the allowed roots.',
  PATH_NOT_FOUND: 'Nothing exists at that path.',
  NOT_A_DIRECTORY: 'The path is not a directory.',
  NOT_A_FILE: 'The path is a directory, a pipe, a socket or a device.',
  NOT_READABLE: 'The file or directory cannot be read.',
  NOT_WRITABLE: 'The file or directory cannot be written to.',
  BINARY_FILE: 'The file is not text.',
  FILE_TOO_LARGE: 'The file is too large for this call.',
  FILE_CHANGED: 'The file changed during the call.',
  PROTECTED_PATH: 'Files there can run later or instruct later sessions; the tools do not write them.',
  NOT_A_REPOSITORY: 'The path is in no git repository, or in one that may not be read.',
  REVISION_NOT_FOUND: 'The repository has no commit with that name.',
  GIT_NOT_FOUND: 'Git was not found.',
  GIT_FAILED: 'Git failed, took too long, or printed too much.',
  SEARCH_FAILED: 'Ripgrep is missing or failed, or the files could not be listed in time.',
  WORK_DOES_NOT_FIT: 'The changes of a task conflict with the project as it is now. Nothing was changed.',
  NO_ACTIVE_PROJECT: 'No path was given, and no active project is set.',
  TASK_NOT_FOUND: 'No task has that id.',
  TASK_ALREADY_RUNNING: 'A task runs in the project already.',
  TASK_NOT_RUNNING: 'The task has ended, or has not started.',
  NATIVE_SESSION: 'A person started the session; only that person ends it, types into it and continues it.',
  TASK_UNREACHABLE: 'The keeper of the task does not answer.',
  MACHINE_NOT_FOUND: 'The setting `machines` has no machine of that name.',
  MACHINE_UNREACHABLE: 'The line to the machine is cut or cannot be opened; what runs there runs on.',
  INSIDE_TASK: 'The server runs inside a task, where this is not allowed.',
  BUDGET_USED: 'The budget of the day (`day_budget`) is used up.',
  TASK_START_FAILED: 'The task could not be started.',
  ASK_FAILED: 'Claude Code gave no answer; the message has its output and exit code.',
  RESPONSE_NOT_FOUND: 'No stored answer has that id.',
  DECISION_NOT_FOUND: 'The task has no decision with that id.',
  DECISION_CLOSED: 'The decision was answered, withdrawn, or timed out.',
  SANDBOX_UNAVAILABLE: 'Claude Code’s sandbox for commands does not work here.',
  PROJECT_SETTINGS_UNREADABLE:
    'A settings file of the project cannot be read, so its rules could not be held.',
  CLAUDE_NOT_FOUND: 'The configured Claude Code was not found.',
  CLAUDE_NOT_EXECUTABLE: 'The configured Claude Code cannot be executed.',
  CLAUDE_TOO_OLD: 'The installed Claude Code is too old.',
  PROCESS_NOT_FOUND: 'No process that the bridge remembers has that pid.',
  PROCESS_NOT_RUNNING: 'The process has ended, or belongs to another server.',
  PROCESS_UNREACHABLE: 'The keeper of the process does not answer.',
  PROGRAM_NOT_FOUND: 'The program was not found or may not be executed.',
  SPAWN_FAILED: 'The process could not be started; the message has the system’s error.',
  INPUT_REFUSED: 'The process takes no more input, or left too much unread.',
  NO_TERMINAL: 'The call needs a process with a terminal, or one without.',
  DOCKER_UNAVAILABLE: 'No Docker engine answers, or the named one cannot be used.',
  IMAGE_NOT_FOUND: 'The Docker engine does not have the image; the bridge pulls none.',
  COPY_REFUSED: 'The files are too large, lead out of their folder, or are of a kind that is not copied.',
  COPY_FAILED: 'The copy was interrupted; the message has the system’s error.',
  EDITOR_NOT_FOUND: 'No window of VS Code with the extension is open, or none with that folder.',
  EDITOR_UNREACHABLE: 'The window of VS Code does not answer, or its connection was lost.',
  EDITOR_VERSION: 'The extension in VS Code and the bridge are of versions that do not fit.',
  UNTRUSTED_WORKSPACE: 'The user has not trusted the workspace, so nothing runs in it.',
  TERMINAL_NOT_FOUND: 'No open terminal in VS Code has that id.',
  TERMINAL_BUSY: 'A command runs in the terminal.',
  TERMINAL_CLOSED: 'The terminal was closed during the call.',
  TERMINAL_FAILED: 'VS Code could not make the terminal, or its command did not begin.',
  NO_SHELL_INTEGRATION: 'The terminal’s shell does not report where commands begin and end.',
  MESSAGE_TOO_LARGE: 'A protocol message was too large.',
  OUTCOME_UNKNOWN:
    'Whether an earlier call with the same `request_id` was done is not known, or not yet; it was not done again.',
  STATE_UNUSABLE: 'The state directory cannot be used (owner, mode, or the disk).',
  RESTART_NEEDED: 'The running server’s files were replaced, as by an update: restart it.',
  INTERNAL_ERROR: 'An error in the bridge itself; the server’s log on stderr has the details.',
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
