// Pure: what a task may begin with.
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import { isWithin } from '../projects/path-in-project.js';
import { isFinal, isNative, WAITS_FOR_MESSAGE, type DriverName, type TaskRecord } from './task.js';
import type { StartTask } from './task-service.js';
import type { TaskContainerSpec } from './task-spec.js';

/** A response is the answer of one task, and its id has the digits of the task's. */
const ORIGIN_PATTERN = /^(?:task|response)_([0-9a-f]{20})$/;
const MAX_SHOWN_CHARS = 60;

/** A task that a new one can continue: the new session begins as a copy of all of its session. */
export type ContinuedTask = TaskRecord & { readonly session_id: string };

/**
 * The task of the id `origin` of a task or a response, to continue it. Throws INVALID_ARGUMENTS for what is no id, for a task that still runs
 * or a session in a turn, and for one that had no session of Claude Code; TASK_NOT_FOUND for an unknown one.
 */
export async function continuedTask(
  origin: string,
  read: (taskId: string) => Promise<TaskRecord | undefined>,
): Promise<ContinuedTask> {
  const digits = ORIGIN_PATTERN.exec(origin)?.[1];
  const shown = oneLine(origin, MAX_SHOWN_CHARS);
  if (digits === undefined) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
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
  if (!isFinal(record.status) && !isIdleSession(record)) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${shown} has not ended; its status is ${record.status}: ${record.reason}`,
      isNative(record)
        ? [{ do: 'wait', task: record.task_id }]
        : [
            { do: 'message', task: record.task_id },
            { do: 'wait', task: record.task_id },
          ],
    );
  }
  const { session_id } = record;
  if (session_id === null) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${shown} had no session of Claude Code; its status is ${record.status}: ${record.reason}`,
      'Start a new session, and say in the prompt what has to be known.',
    );
  }
  return { ...record, session_id };
}

/** `projectPath`: real path of the new task. Throws INVALID_ARGUMENTS for another directory than that of the continued one. */
export function checkSameFolder({ task_id, project_path }: TaskRecord, projectPath: string): void {
  if (project_path === projectPath) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
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

/** Between two turns, a session that a person started can be copied. */
function isIdleSession(record: TaskRecord): boolean {
  return isNative(record) && record.reason.endsWith(WAITS_FOR_MESSAGE);
}

/** Sessions of a container lie in its home, those of this machine in the user's. Throws INVALID_ARGUMENTS. */
export function checkSamePlace(
  origin: string,
  wasInContainer: boolean,
  { isolation }: Pick<StartTask, 'isolation'>,
): void {
  const isInContainer = isolation === 'docker';
  if (wasInContainer === isInContainer) return;
  const place = (inContainer: boolean) => (inContainer ? 'in a container' : 'on this machine');
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `${origin} worked ${place(wasInContainer)}, and the new task would work ${place(isInContainer)}: Claude Code keeps its sessions there.`,
    `Give isolation '${wasInContainer ? 'docker' : 'none'}', or start a new session.`,
  );
}

/** The driver of a task. Throws INVALID_ARGUMENTS where the mode cannot have it. */
export function driverFor({
  driver,
  permissionMode,
}: Pick<StartTask, 'driver' | 'permissionMode'>): DriverName {
  if (permissionMode !== 'claude') return driver ?? 'interactive';
  if (driver !== 'interactive') return 'print';
  // In a terminal, where the API cannot check a call, the CLI stops at a dialog that no hook reports (2.1.332).
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    "permission_mode 'claude' and driver 'interactive' do not go together: Claude Code’s auto mode asks things in its terminal that cannot be answered from here.",
    'Leave driver out, or give another permission_mode.',
  );
}

/**
 * Throws INVALID_ARGUMENTS for a mode that a container cannot keep, or that a session without questions cannot. The kernel makes no sandbox there for a user without
 * capabilities. All programs there have the agent's user, so one of them could answer what `cautious` asks: it can write to
 * the pipes of the hooks and of the CLI.
 */
export function checkIsolation({
  isolation,
  permissionMode,
  skipPermissions,
}: Pick<StartTask, 'isolation' | 'permissionMode' | 'skipPermissions'>): void {
  if ((permissionMode === 'cautious' || permissionMode === 'claude') && isolation === 'docker') {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `permission_mode '${permissionMode}' and isolation 'docker' do not go together: a command in the container has the user of Claude Code there, so it could answer the questions of the session itself.`,
      "Give isolation 'none', or permission_mode 'auto': the container holds what commands reach.",
    );
  }
  if (skipPermissions === true && permissionMode !== 'auto') {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `permission_mode '${permissionMode}' and the setting conversation_skip_permissions do not go together: Claude Code would then ask nothing at all.`,
      'Give no permission mode, or switch the setting conversation_skip_permissions off.',
    );
  }
  if (permissionMode !== 'sandboxed' || isolation !== 'docker') return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    "permission_mode 'sandboxed' and isolation 'docker' do not go together: no sandbox can be made in the container, which itself holds what commands reach.",
    "Give isolation 'none', or another permission_mode.",
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

/** The user's settings of containers for agents. */
export interface ContainerSettings extends Omit<TaskContainerSpec, 'image'> {
  /** Null when the user has named none. */
  readonly image: string | null;
  /** The configured program and its arguments, as they are written: the program is looked for in the image. */
  readonly command: readonly string[];
}

export interface ContainerChoice {
  readonly container: TaskContainerSpec;
  readonly command: readonly string[];
}

/** The container of a task that asks for one. Throws TASK_START_FAILED when the user has named no image. */
export function chooseContainer(settings: ContainerSettings | undefined): ContainerChoice {
  const image = settings?.image ?? null;
  if (settings === undefined || image === null) {
    throw new BridgeError(
      'TASK_START_FAILED',
      "isolation is 'docker', but no image for tasks is set.",
      'Give no isolation, or set `image` in the setting task_container (MCP_TASK_CONTAINER) to an image that holds Claude Code; docs/containers.md says how one is made.',
    );
  }
  const { command, ...container } = settings;
  return { command, container: { ...container, image } };
}
