import type { Logger } from '../../base/logger.js';
import type { ProcessState } from '../../store/process-identity.js';
import { isSameIdentity, type ProcessIdentity } from '../../store/process-place.js';
import { keeperIn, labelNames, ownedBy, type ContainerOwner } from './container-labels.js';
import type { DockerEngine } from './engine/docker-engine.js';

/** Volumes that no caller named are kept up to this number, newest first; those of running containers always. */
const KEPT_VOLUMES = 200;
/** 409: it is being removed already. */
const GONE_STATUSES = new Set([404, 409]);

export interface LeftoverOptions {
  readonly engine: DockerEngine;
  readonly owner: ContainerOwner;
  readonly logger: Logger;
  /** Whether a container of this very process is still in use, by the id of the process or task in it. */
  readonly isInUse: (id: string) => boolean;
  /** Of the process that looks after a container. */
  readonly keeperState: (keeper: ProcessIdentity) => Promise<ProcessState>;
}

/**
 * Removes containers of servers and keepers that have died, and those that this process lost sight of while the engine was away.
 * True when the engine answered, so that nothing is left.
 */
export async function sweepContainers(options: LeftoverOptions): Promise<boolean> {
  const { engine, owner, logger } = options;
  const listed = await engine.call((client, abortSignal) =>
    client.listContainers({ all: true, filters: ownedBy(owner), abortSignal }),
  );
  if (listed.kind !== 'value') return false;
  let isClean = true;
  for (const { Id, Names, Labels } of listed.value) {
    if (await isKept(options, Labels)) continue;
    const answer = await engine.call((client, abortSignal) =>
      client.getContainer(Id).remove({ force: true, v: true, abortSignal }),
    );
    if (answer.kind === 'value') logger.info('Removed a container that was left behind.', { name: Names[0] });
    isClean &&= answer.kind === 'value' || (answer.kind === 'refused' && GONE_STATUSES.has(answer.status));
  }
  await pruneVolumes(options);
  return isClean;
}

async function isKept(
  { owner, isInUse, keeperState }: LeftoverOptions,
  labels: Readonly<Record<string, string>>,
): Promise<boolean> {
  const keeper = keeperIn(labels);
  if (keeper === undefined) return false;
  if (isSameIdentity(keeper, owner.keeper)) return isInUse(labels[labelNames.process] ?? '');
  return (await keeperState(keeper)) !== 'gone';
}

async function pruneVolumes({ engine, owner }: LeftoverOptions): Promise<void> {
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

/** The engine's own time stamp sorts as text; where there is none, it is the oldest. */
function createdAt(volume: object): string {
  return 'CreatedAt' in volume && typeof volume.CreatedAt === 'string' ? volume.CreatedAt : '';
}
