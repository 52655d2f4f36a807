import { systemClock } from '../base/system-clock.js';
import { writeGuard } from '../files/write/protected-path.js';
import { ContainerCopies } from '../processes/docker/container-copies.js';
import { containerOwnerId } from '../processes/docker/leftovers.js';
import { refuseCopy } from '../processes/docker/copy-rules.js';
import { DockerBackend } from '../processes/docker/docker-backend.js';
import { DockerEngine } from '../processes/docker/engine.js';
import type { ProcessBackend } from '../processes/process-handle.js';
import type { FoundProcess } from '../processes/process-manager.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import { ownerState } from '../store/owner-state.js';
import type { ProcessIdentity } from '../store/process-place.js';
import { engineSettings } from './engine-settings.js';
import type { BridgeOptions } from './open-state.js';

export interface Containers {
  readonly backend: ProcessBackend;
  readonly copies: ContainerCopies;
}

/** Processes in containers of the engine that the settings name. */
export function createContainers(
  options: BridgeOptions,
  parts: {
    readonly roots: AllowedRoots;
    readonly statePath: string;
    readonly keeper: ProcessIdentity;
    readonly find: (id: string) => Promise<FoundProcess>;
  },
): Containers {
  const { config, logger } = options;
  const { roots, statePath, keeper, find } = parts;
  const backend = new DockerBackend({
    engine: new DockerEngine({ settings: engineSettings(options), clock: systemClock }),
    owner: { id: containerOwnerId(statePath), keeper },
    image: config.docker_image,
    logger,
    keeperState: (one) => ownerState(one, statePath),
  });
  backend.sweepSoon();
  const copies = new ContainerCopies({
    roots,
    opener: new PathOpener(roots),
    refuse: writeGuard(roots, config.allow_protected_writes),
    lend: async (processId, use) => {
      const { mode, status } = (await find(processId)).record;
      const isRunning = status === 'running';
      if (mode === 'docker') return backend.lend(processId, isRunning, (one) => use(one, isRunning));
      throw refuseCopy(
        `The process ${processId} runs on this machine: its files are where it put them.`,
        'Use them where they are; copies are for processes in containers.',
      );
    },
  });
  return { copies, backend };
}
