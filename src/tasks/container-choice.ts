// Pure.
import { BridgeError } from '../base/errors.js';
import type { DriverName } from './task.js';
import type { StartTask } from './task-service.js';
import type { TaskContainerSpec } from './task-spec.js';

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
    `Give isolation '${wasInContainer ? 'docker' : 'none'}', or leave continue_from out to start a new session.`,
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
      'Leave permissionMode out, or ask the user to switch conversation_skip_permissions off.',
    );
  }
  if (permissionMode !== 'sandboxed' || isolation !== 'docker') return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    "permission_mode 'sandboxed' and isolation 'docker' do not go together: no sandbox can be made in the container, which itself holds what commands reach.",
    "Give isolation 'none', or another permission_mode.",
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
      'Leave isolation out, or ask the user to set `image` in the setting task_container (MCP_TASK_CONTAINER) to an image that holds Claude Code; docs/containers.md says how one is made.',
    );
  }
  const { command, ...container } = settings;
  return { command, container: { ...container, image } };
}
