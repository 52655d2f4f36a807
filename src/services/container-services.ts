import { systemClock } from '../base/system-clock.js';
import { writeGuard } from '../files/write/protected-path.js';
import { ContainerCopies } from '../processes/docker/copies/container-copies.js';
import { containerOwnerId } from '../processes/docker/leftover-containers.js';
import { refuseCopy } from '../processes/docker/copies/container-path.js';
import { DockerBackend } from '../processes/docker/docker-backend.js';
import { DockerEngine } from '../processes/docker/engine/docker-engine.js';
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
  const engine = new DockerEngine({ settings: engineSettings(options), clock: systemClock });
  const owner = { id: containerOwnerId(statePath), keeper };
  const backend = new DockerBackend({
    engine,
    owner,
    image: config.docker_image,
    clock: systemClock,
    logger,
    keeperState: (one) => ownerState(one, statePath),
  });
  backend.sweepSoon();
  const copies = new ContainerCopies({
    clock: systemClock,
    roots,
    opener: new PathOpener(roots),
    refuse: writeGuard(roots, config.allow_protected_writes),
    lend: async (processId, use) => {
      const { mode, status } = (await find(processId)).record;
      if (mode === 'docker') return backend.lend(processId, status === 'running', use);
      throw refuseCopy(
        `The process ${processId} runs on this machine: its files are where it put them.`,
        'Use them where they are; copies are for processes in containers.',
      );
    },
  });
  return { copies, backend };
}
