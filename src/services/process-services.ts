import { lazily } from '../base/lifecycle.js';
import { systemClock } from '../base/system-clock.js';
import { writeGuard } from '../files/write/protected-path.js';
import { KeeperHost } from '../keeper/host/keeper-host.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import type { DockerBackend } from '../processes/docker/docker-backend.js';
import type { ContainerCopies } from '../processes/docker/container-copies.js';
import { containerOwnerId } from '../processes/docker/leftovers.js';
import { HostBackend } from '../processes/host/host-backend.js';
import { ProcessManager } from '../processes/process-manager.js';
import { ProcessService } from '../processes/process-service.js';
import { ProcessStore } from '../processes/process-store.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import { childEnvironment, sessionKeys } from '../pty/child-env.js';
import { ownerState } from '../store/owner-state.js';
import { ownIdentity } from '../store/process-identity.js';
import { Requests } from '../store/requests.js';
import { engineSettings } from './engine-settings.js';
import { endMarked, keeperProgram, openState, type BridgeOptions } from './open-state.js';

/** Of each output stream: the logs of a day, and more than any caller reads; the oldest is dropped beyond. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** How many ended processes are stored, and the bytes of all their output. */
const HISTORY_SIZE = 50;
const MAX_HISTORY_BYTES = 2 * 1024 * 1024 * 1024;

const clock = systemClock;

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
  const state = await openState(options);
  const { path: statePath } = state.stateDir;
  const owner = await ownIdentity();
  const store = new ProcessStore(statePath);
  const engine = engineSettings(options);
  const keeperState = (one: typeof owner) => ownerState(one, statePath);
  let docker: DockerBackend | undefined;
  const containers = lazily(async () => {
    const [{ DockerBackend: Backend }, { DockerEngine }] = await Promise.all([
      import('../processes/docker/docker-backend.js'),
      import('../processes/docker/engine.js'),
    ]);
    docker = new Backend({
      engine: new DockerEngine({ settings: engine, clock }),
      owner: { id: containerOwnerId(statePath), keeper: owner },
      image: config.docker_image,
      logger,
      keeperState,
    });
    docker.sweepSoon();
    return docker;
  });
  const passed = passedEnvironment(options);
  const manager: ProcessManager = new ProcessManager({
    store,
    clock,
    logger,
    owner,
    ownerState: keeperState,
    environment: (mark, extra) => ({ ...passed, ...extra, [MARK_VARIABLE]: mark }),
    backends: {
      host: lazily(async () => hostBackend(config.shell, owner.start_time, state.runtimeDir.path)),
      docker: containers,
    },
    keepers: new KeeperHost(keeperProgram(options, state)).keepers({
      shell: config.shell,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      containers: { engine, ownerId: containerOwnerId(statePath), image: config.docker_image },
    }),
    endMarked,
    socketPath: (id) => state.runtimeDir.socketPath(id),
    maxOutputBytes: MAX_OUTPUT_BYTES,
    historySize: HISTORY_SIZE,
    maxHistoryBytes: MAX_HISTORY_BYTES,
  });
  return {
    processes: new ProcessService({
      ...{ manager, clock, project, defaultMode: config.process_mode },
      once: new Requests(statePath, clock).once,
    }),
    copies: lazily(async () => copiesOf(roots, config.allow_protected_writes, manager, await containers())),
    sweep: () => manager.sweep(),
    dispose: async () => {
      await manager.dispose();
      await docker?.dispose();
    },
  };
}

async function copiesOf(
  roots: AllowedRoots,
  allowsProtected: boolean,
  manager: ProcessManager,
  docker: DockerBackend,
): Promise<ContainerCopies> {
  const [{ ContainerCopies: Copies }, { refuseCopy }] = await Promise.all([
    import('../processes/docker/container-copies.js'),
    import('../processes/docker/copy-rules.js'),
  ]);
  return new Copies({
    roots,
    opener: new PathOpener(roots),
    refuse: writeGuard(roots, allowsProtected),
    lend: async (processId, use) => {
      const { mode, status } = (await manager.find(processId)).record;
      const isRunning = status === 'running';
      if (mode === 'docker') return docker.lend(processId, isRunning, (one) => use(one, isRunning));
      throw refuseCopy(
        `The process ${processId} runs on this machine: its files are where it put them.`,
        'Use them where they are; copies are for processes in containers.',
      );
    },
  });
}

/** What a program gets of the server's environment: what is spawned here is no session of Claude Code. */
function passedEnvironment({ env, config }: BridgeOptions): Readonly<Record<string, string>> {
  const all = childEnvironment(env, { mark: '', passEnvironment: config.pass_environment });
  const keys = sessionKeys(all, config.pass_environment);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !keys.includes(name)));
}

function hostBackend(shell: string, startTime: string | null, pipeFolder: string): HostBackend {
  const host = new HostBackend({ clock, shell, startedSince: startTime ?? undefined, pipeFolder });
  // A machine that is so busy that the time for leaving is over before all have been ended.
  process.once('exit', () => host.killAtOnce());
  return host;
}
