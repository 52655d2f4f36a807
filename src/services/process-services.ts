import { systemClock } from '../base/system-clock.js';
import { lazily } from '../base/lifecycle.js';
import { ProcessKeeperHost } from '../keeper/host/kept-process.js';
import type { ContainerCopies } from '../processes/docker/copies/container-copies.js';
import { containerOwnerId } from '../processes/docker/leftover-containers.js';
import { HostBackend } from '../processes/host/host-backend.js';
import { ProcessManager } from '../processes/process-manager.js';
import { ProcessService } from '../processes/process-service.js';
import { ProcessStore } from '../processes/process-store.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import { childEnvironment, sessionKeys } from '../pty/child-env.js';
import { ownerState } from '../store/owner-state.js';
import { ownIdentity } from '../store/process-identity.js';
import type { ProcessIdentity } from '../store/process-place.js';
import type { RuntimeDir } from '../store/runtime-dir.js';
import type { StateDir } from '../store/state-dir.js';
import type { Containers } from './container-services.js';
import { engineSettings } from './engine-settings.js';
import { endMarked, openState, type BridgeOptions } from './open-state.js';

/** Of each output stream: the logs of a day, and more than any caller reads; the oldest is dropped beyond. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** How many ended processes are stored, and the bytes of all their output. */
const HISTORY_SIZE = 50;
const MAX_HISTORY_BYTES = 2 * 1024 * 1024 * 1024;

export interface ProcessServices {
  readonly processes: ProcessService;
  /** Between this machine and containers; loaded when first asked for. */
  readonly copies: () => Promise<ContainerCopies>;
  /** Gives processes of servers that are gone their end. */
  readonly sweep: () => Promise<void>;
  /** Ends every process that should not outlive the server. */
  readonly dispose: () => Promise<void>;
}

/** Throws STATE_UNUSABLE when the state directory cannot be used. */
export async function createProcessServices(
  options: BridgeOptions,
  roots: AllowedRoots,
  project: ActiveProject,
): Promise<ProcessServices> {
  const { config, logger } = options;
  const clock = systemClock;
  const { stateDir, runtimeDir } = await openState(options);
  const owner = await ownIdentity();
  const store = new ProcessStore(stateDir.path);
  let made: Containers | undefined;
  const containers = lazily(async (): Promise<Containers> => {
    const { createContainers } = await import('./container-services.js');
    const find = (id: string) => manager.find(id);
    return (made = createContainers(options, { roots, statePath: stateDir.path, keeper: owner, find }));
  });
  const passed = passedEnvironment(options);
  const manager: ProcessManager = new ProcessManager({
    store,
    clock,
    logger,
    owner,
    ownerState: (one) => ownerState(one, stateDir.path),
    environment: (mark, extra) => ({ ...passed, ...extra, [MARK_VARIABLE]: mark }),
    backends: {
      host: lazily(async () => hostBackend(config.shell, owner, runtimeDir)),
      docker: async () => (await containers()).backend,
    },
    keepers: keeperHost(options, store, stateDir, runtimeDir),
    endMarked,
    socketPath: (id) => runtimeDir.processSocketPath(id),
    maxOutputBytes: MAX_OUTPUT_BYTES,
    historySize: HISTORY_SIZE,
    maxHistoryBytes: MAX_HISTORY_BYTES,
  });
  return {
    processes: new ProcessService({
      manager,
      store,
      clock,
      project,
      defaultMode: config.process_mode,
    }),
    copies: async () => (await containers()).copies,
    sweep: () => manager.sweep(),
    dispose: async () => {
      await manager.dispose();
      await made?.backend.dispose();
    },
  };
}

/** What a program gets of the server's environment. */
function passedEnvironment({ env, config }: BridgeOptions): Readonly<Record<string, string>> {
  const all = childEnvironment(env, { mark: '', passEnvironment: config.pass_environment });
  // What is spawned here is no session of Claude Code.
  const keys = sessionKeys(all, config.pass_environment);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !keys.includes(name)));
}

function hostBackend(shell: string, owner: ProcessIdentity, runtimeDir: RuntimeDir): HostBackend {
  const host = new HostBackend({
    clock: systemClock,
    shell,
    startedSince: owner.start_time ?? undefined,
    pipeFolder: runtimeDir.path,
  });
  // A machine that is so busy that the time for leaving is over before all have been ended.
  process.once('exit', () => host.killAtOnce());
  return host;
}

/** Starts the keepers of processes that outlive the server. */
function keeperHost(
  options: BridgeOptions,
  store: ProcessStore,
  stateDir: StateDir,
  runtimeDir: RuntimeDir,
): ProcessKeeperHost {
  const { config, env } = options;
  return new ProcessKeeperHost({
    keeperEntry: options.keeperEntry,
    nodeArguments: options.nodeArguments ?? [],
    statePath: stateDir.path,
    runtimePath: runtimeDir.path,
    store,
    env,
    logLevel: config.log_level,
    shell: config.shell,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    containers: {
      engine: engineSettings(options),
      ownerId: containerOwnerId(stateDir.path),
      image: config.docker_image,
    },
  });
}
