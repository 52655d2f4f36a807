// Pure: what a task may begin with.
import { BridgeError, type Next } from '../base/errors.js';
import { oneLine, withoutUnseen } from '../base/text.js';
import { isWithin } from '../projects/path-in-project.js';
import { isFinal, isNative, WAITS_FOR_MESSAGE, type DriverName, type TaskRecord } from './task.js';
import type { StartTask } from './task-service.js';
import type { TaskContainerSpec, TaskSpec } from './task-spec.js';

/** 1 MiB: far more than a model's context takes. Longer text belongs in a file that the prompt names. */
export const MAX_PROMPT_BYTES = 1024 * 1024;
/** Everything that is not text: control characters other than tab, line feed and carriage return. */
const notText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** The first word of a command of Claude Code: its own, a skill's or one of the project. A path has a second slash. */
const command = /^\s*(\/[^\s/]*)(?:\s|$)/;

/** Throws INVALID_PROMPT for text that is empty, too long, or no text. */
export function checkPrompt(prompt: string): void {
  if (withoutUnseen(prompt).trim() === '')
    throw refused('The prompt is empty.', 'Say what Claude Code is to do.', 'INVALID_PROMPT');
  const bytes = Buffer.byteLength(prompt);
  if (bytes > MAX_PROMPT_BYTES)
    throw refused(
      `The prompt is ${bytes} bytes long; at most ${MAX_PROMPT_BYTES} are taken.`,
      'Put the long part into a file of the project and name the file in the prompt.',
      'INVALID_PROMPT',
    );
  const odd = notText.exec(prompt) ?? loneSurrogate.exec(prompt);
  if (odd === null) return;
  const code = (odd[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw refused(
    `The prompt holds a character that is no text: U+${code} at position ${odd.index}.`,
    'Remove control characters and binary data; put such data into a file of the project and name the file in the prompt.',
    'INVALID_PROMPT',
  );
}

/**
 * Throws INVALID_PROMPT for what Claude Code may take as a command: most of its own ask no model, so no turn would come of them
 * (2.1.330, 2.1.332).
 */
export function checkIsNoCommand(text: string): void {
  const name = command.exec(withoutUnseen(text))?.[1];
  if (name === undefined) return;
  throw refused(
    `The text begins with ${name}, which Claude Code may take as a command of its own: no agent would read it.`,
    `Write a sentence: for a skill or a command of the project, "Use ${name} …".`,
    'INVALID_PROMPT',
  );
}

/** A response is the answer of one task, and its id has the digits of the task's. */
const ORIGIN_PATTERN = /^(?:task|response)_([0-9a-f]{20})$/;
const MAX_SHOWN_CHARS = 60;

/** A task that a new one can continue: the new session begins as a copy of all of its session. */
export type ContinuedTask = TaskRecord & {
  readonly session_id: string;
  /** What it was given beside its prompt. */
  readonly given?: Pick<TaskSpec, 'checks' | 'until_met'> | undefined;
};

/**
 * The task of the id `origin` of a task or a response, to continue it. Throws INVALID_ARGUMENTS for what is no id, for a task that still runs
 * or a session in a turn, and for one whose session of Claude Code never began; TASK_NOT_FOUND for an unknown one.
 */
export async function continuedTask(
  origin: string,
  read: (taskId: string) => Promise<TaskRecord | undefined>,
): Promise<ContinuedTask> {
  const digits = ORIGIN_PATTERN.exec(origin)?.[1];
  const shown = oneLine(origin, MAX_SHOWN_CHARS);
  if (digits === undefined) {
    throw refused(
      `continue_from is '${shown}', which is no id of a task or a response.`,
      'Give an id such as task_0123456789abcdef0123 or response_0123456789abcdef0123.',
    );
  }
  const record = await read(`task_${digits}`);
  if (record === undefined) {
    throw new BridgeError(
      'TASK_NOT_FOUND',
      `continue_from is ${shown}, which is not known, or no longer stored.`,
      [{ do: 'list' }, { do: 'start' }],
    );
  }
  const { task_id, status, reason, session_id, turns } = record;
  // Between two turns, a session that a person started can be copied.
  const isIdle = isNative(record) && reason.endsWith(WAITS_FOR_MESSAGE);
  if (!isFinal(status) && !isIdle) {
    throw refused(
      `${shown} has not ended; its status is ${status}: ${reason}`,
      isNative(record)
        ? [{ do: 'wait', task: task_id }]
        : [
            { do: 'message', task: task_id },
            { do: 'wait', task: task_id },
          ],
    );
  }
  if (session_id === null) {
    throw refused(
      `${shown} cannot be continued: its session ${turns === 0 ? 'never began' : 'was not stored by Claude Code'}. Its status is ${status}: ${reason}`,
      turns === 0
        ? 'Start a new task with the same prompt.'
        : 'Start a new task, and say in its prompt what has to be known.',
    );
  }
  return { ...record, session_id };
}

/** `projectPath`: real path of the new task. Throws INVALID_ARGUMENTS for another directory than that of the continued one. */
export function checkSameFolder({ task_id, project_path }: TaskRecord, projectPath: string): void {
  if (project_path === projectPath) return;
  throw refused(
    `${task_id} worked in ${project_path}, not in ${projectPath}: Claude Code keeps sessions by directory.`,
    'Give no path to go on there, or start a new session here.',
  );
}

/** For a task that cannot be continued, since its directory was removed. */
export function folderGone({ task_id, project_path, worktree }: TaskRecord, cause: BridgeError): BridgeError {
  const action = worktree?.finished?.action;
  return new BridgeError(
    'PATH_NOT_FOUND',
    `${task_id} worked in ${project_path}, which is no longer there${action === undefined ? '' : ` (finished with ${action})`}: Claude Code keeps sessions by directory.`,
    `Start a new session${worktree === undefined ? '' : ` in ${worktree.project_path}`}, and say in the prompt what has to be known.`,
    { cause },
  );
}

/** Sessions of a container lie in its home, those of this machine in the user's. Throws INVALID_ARGUMENTS. */
export function checkSamePlace(
  origin: string,
  wasInContainer: boolean,
  { isolation }: Pick<StartTask, 'isolation'>,
): void {
  if (wasInContainer === (isolation === 'docker')) return;
  const [was, would] = wasInContainer
    ? ['in a container', 'on this machine']
    : ['on this machine', 'in a container'];
  throw refused(
    `${origin} worked ${was}, and the new task would work ${would}: Claude Code keeps its sessions there.`,
    `Give isolation '${wasInContainer ? 'docker' : 'none'}', or start a new session.`,
  );
}

/** The driver of a task. Throws INVALID_ARGUMENTS for what the mode cannot be together with. */
export function driverFor({
  driver,
  permissionMode: mode,
  isolation,
  skipPermissions,
}: Pick<StartTask, 'driver' | 'permissionMode' | 'isolation' | 'skipPermissions'>): DriverName {
  const apart = (other: string, why: string, hint: string): BridgeError =>
    refused(`permission_mode '${mode}' and ${other} do not go together: ${why}.`, hint);
  if (isolation === 'docker' && mode === 'sandboxed')
    // The kernel makes none there for a user without capabilities.
    throw apart(
      "isolation 'docker'",
      'no sandbox can be made in the container, which itself holds what commands reach',
      "Give isolation 'none', or another permission_mode.",
    );
  if (isolation === 'docker' && mode !== 'auto')
    // It could write to the pipes of the hooks and of the CLI.
    throw apart(
      "isolation 'docker'",
      'a command in the container has the user of Claude Code there, so it could answer the questions of the session itself',
      "Give isolation 'none', or permission_mode 'auto': the container holds what commands reach.",
    );
  if (skipPermissions === true && mode !== 'auto')
    throw apart(
      'the setting conversation_skip_permissions',
      'Claude Code would then ask nothing at all',
      'Give no permission mode, or switch the setting conversation_skip_permissions off.',
    );
  if (mode !== 'claude') return driver ?? 'interactive';
  if (driver !== 'interactive') return 'print';
  // In a terminal, where the API cannot check a call, the CLI stops at a dialog that no hook reports (2.1.332).
  throw apart(
    "driver 'interactive'",
    'Claude Code’s auto mode asks things in its terminal that cannot be answered from here',
    'Leave driver out, or give another permission_mode.',
  );
}

/**
 * Both are real paths. Throws PATH_NOT_ALLOWED for a project that contains the state directory: what the bridge writes there would
 * count as the task's changes, and nothing could be taken back.
 */
export function checkHoldsNoState(projectPath: string, statePath: string): void {
  if (!isWithin(statePath, projectPath)) return;
  throw new BridgeError(
    'PATH_NOT_ALLOWED',
    `The project ${projectPath} contains the state directory of the bridge, ${statePath}: the bridge's own files would count as changes of the task.`,
    'Use a folder that does not contain it, or set state_dir (MCP_STATE_DIR) to a folder outside the projects and restart the bridge.',
  );
}

/** Aliases and ids such as `opus`, `claude-opus-4-1[1m]` or an ARN; nothing that could be read as an option. */
const modelPattern = /^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,199}$/;

/** Throws INVALID_ARGUMENTS. */
export function checkModel(model: string | undefined): void {
  if (model === undefined || modelPattern.test(model)) return;
  throw refused(
    `'${oneLine(model, 80)}' is no name of a model.`,
    'Give an alias such as "opus" or "sonnet" or a model id, or leave model out.',
  );
}

/** The user's settings of containers for agents. */
export interface ContainerSettings extends Omit<TaskContainerSpec, 'image'> {
  /** Null when the user has named none. */
  readonly image: string | null;
  /** The configured program and its arguments, as they are written: the program is looked for in the image. */
  readonly command: readonly string[];
}

/** The container of a task that asks for one, and its program. Throws TASK_START_FAILED when the user has named no image. */
export function chooseContainer(settings: ContainerSettings | undefined): {
  readonly container: TaskContainerSpec;
  readonly command: readonly string[];
} {
  if (settings === undefined || settings.image === null) {
    throw new BridgeError(
      'TASK_START_FAILED',
      "isolation is 'docker', but no image for tasks is set.",
      'Give no isolation, or set `image` in the setting task_container (MCP_TASK_CONTAINER) to an image that holds Claude Code; docs/containers.md says how one is made.',
    );
  }
  const { command, image, ...container } = settings;
  return { command, container: { ...container, image } };
}

function refused(
  message: string,
  hint: string | Next,
  code: 'INVALID_ARGUMENTS' | 'INVALID_PROMPT' = 'INVALID_ARGUMENTS',
): BridgeError {
  return new BridgeError(code, message, hint);
}
