import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { ProcessIdentity } from '../../store/process-place.js';
import type { ProcessBackend } from '../process-backend.js';
import { DockerBackend } from './docker-backend.js';
import { DockerEngine } from './engine/docker-engine.js';
import type { EngineSettings } from './engine/engine-address.js';

/** What a keeper needs to know to run a process in a container as its server would. */
export interface KeptContainers {
  readonly engine: EngineSettings;
  /** Whose the containers are (`containerOwnerId`). */
  readonly ownerId: string;
  /** For a process that names none. */
  readonly image: string;
}

/** The backend of a keeper: its container is looked after by the keeper, and is left alone by all servers while that lives. */
export function keptContainerBackend(
  { engine: settings, ownerId, image }: KeptContainers,
  {
    keeper,
    clock,
    logger,
  }: { readonly keeper: ProcessIdentity; readonly clock: Clock; readonly logger: Logger },
): Pick<ProcessBackend, 'spawn' | 'dispose'> {
  const engine = new DockerEngine({ settings, clock });
  const backend = new DockerBackend({ engine, owner: { id: ownerId, keeper }, clock, logger });
  return {
    spawn: (spec, sink) => backend.spawn({ image, ...spec }, sink),
    dispose: () => backend.dispose(),
  };
}
