import type { Logger } from '../../base/logger.js';
import type { ProcessState } from '../../store/process-identity.js';
import { isSameIdentity, type ProcessIdentity } from '../../store/process-place.js';
import { keeperIn, labelNames, ownedBy, type ContainerOwner } from './container-labels.js';
import type { DockerEngine } from './engine/docker-engine.js';

/** Volumes that no caller named are kept up to this number, newest first; those of running containers always. */
const KEPT_VOLUMES = 200;
/** A list takes an engine milliseconds. */
const LOOK_LIMIT_MS = 10_000;
const GONE_STATUSES = new Set([404, 409]);

export interface LeftoverOptions {
  readonly engine: DockerEngine;
  readonly owner: ContainerOwner;
  readonly logger: Logger;
  /** Whether a container of this very process is still in use. */
  readonly isInUse: (processId: string) => boolean;
  /** Of the process that looks after a container. */
  readonly keeperState: (keeper: ProcessIdentity) => Promise<ProcessState>;
}

/** Removes containers of servers that have died, and those that this one lost sight of while the engine was away. */
export class LeftoverContainers {
  readonly #options: LeftoverOptions;

  constructor(options: LeftoverOptions) {
    this.#options = options;
  }

  /** The ids of this owner's containers that run; undefined when the engine does not answer soon. */
  async running(): Promise<ReadonlySet<string> | undefined> {
    const { engine, owner } = this.#options;
    const listed = await engine.call(
      (client, abortSignal) => client.listContainers({ filters: ownedBy(owner), abortSignal }),
      LOOK_LIMIT_MS,
    );
    return listed.kind === 'value' ? new Set(listed.value.map(({ Id }) => Id)) : undefined;
  }

  /** True when the engine answered, so that nothing is left. */
  async sweep(): Promise<boolean> {
    const { engine, owner, logger } = this.#options;
    const listed = await engine.call((client, abortSignal) =>
      client.listContainers({ all: true, filters: ownedBy(owner), abortSignal }),
    );
    if (listed.kind !== 'value') return false;
    let isClean = true;
    for (const { Id, Names, Labels } of listed.value) {
      if (await this.#isKept(Labels)) continue;
      const removed = await this.remove(Id);
      if (removed) logger.info('Removed a container that was left behind.', { name: Names[0] });
      isClean &&= removed;
    }
    await this.#pruneVolumes();
    return isClean;
  }

  /** Ends what runs in it and removes it with its unnamed volumes; true when it is gone. */
  async remove(containerId: string): Promise<boolean> {
    const answer = await this.#options.engine.call((client, abortSignal) =>
      client.getContainer(containerId).remove({ force: true, v: true, abortSignal }),
    );
    // 409: it is being removed already.
    return answer.kind === 'value' || (answer.kind === 'refused' && GONE_STATUSES.has(answer.status));
  }

  async #isKept(labels: Readonly<Record<string, string>>): Promise<boolean> {
    const { owner, isInUse, keeperState } = this.#options;
    const keeper = keeperIn(labels);
    if (keeper === undefined) return false;
    if (isSameIdentity(keeper, owner.keeper)) return isInUse(labels[labelNames.process] ?? '');
    return (await keeperState(keeper)) !== 'gone';
  }

  async #pruneVolumes(): Promise<void> {
    const { engine, owner } = this.#options;
    const unnamed = [...ownedBy(owner).label, `${labelNames.volume}=unnamed`];
    const listed = await engine.call((client, abortSignal) =>
      client.listVolumes({ filters: { label: unnamed, dangling: ['true'] }, abortSignal }),
    );
    if (listed.kind !== 'value') return;
    const oldest = listed.value.Volumes.map((one) => ({ name: one.Name, at: createdAt(one) }))
      .sort((a, b) => b.at.localeCompare(a.at))
      .slice(KEPT_VOLUMES);
    for (const { name } of oldest) {
      // One that came into use meanwhile is refused, and stays.
      await engine.call((client, abortSignal) => client.getVolume(name).remove({ abortSignal }));
    }
  }
}

/** The engine's own time stamp sorts as text; where there is none, it is the oldest. */
function createdAt(volume: object): string {
  return 'CreatedAt' in volume && typeof volume.CreatedAt === 'string' ? volume.CreatedAt : '';
}
