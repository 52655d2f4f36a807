import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from '../../base/logger.js';
import type { ProcessState } from '../../store/process-identity.js';
import { type ProcessIdentity, processIdentitySchema } from '../../store/process-place.js';
import type { DockerEngine } from './engine/docker-engine.js';

/** Labels by which containers and volumes of the bridge are found again. */
export const labelNames = {
  /** `process`: what the bridge makes, for processes and tasks. */
  kind: 'claude-code-bridge.kind',
  /** Whose they are: the servers of one user on one machine. */
  owner: 'claude-code-bridge.owner',
  /** The process that looks after the container, as JSON. */
  keeper: 'claude-code-bridge.keeper',
  /** The id of the process or task. */
  process: 'claude-code-bridge.process',
  /** `named`: a volume that a caller named, which is never removed by the bridge. */
  volume: 'claude-code-bridge.volume',
} as const;

const KIND = 'process';

export interface ContainerOwner {
  /** The same for all servers that may clean up after each other, and for no other. */
  readonly id: string;
  /** This process. */
  readonly keeper: ProcessIdentity;
}

/**
 * Whose the containers of this machine and state directory are: two machines may share an engine, and neither may end what it
 * takes for a dead server's.
 */
export function containerOwnerId(statePath: string): string {
  return createHash('sha256').update(`${hostname()}\0${statePath}`).digest('hex');
}

export function containerLabels(owner: ContainerOwner, processId: string): Record<string, string> {
  return {
    [labelNames.kind]: KIND,
    [labelNames.owner]: owner.id,
    [labelNames.keeper]: JSON.stringify(owner.keeper),
    [labelNames.process]: processId,
  };
}

export function volumeLabels(owner: ContainerOwner, isNamed: boolean): Record<string, string> {
  return {
    [labelNames.kind]: KIND,
    [labelNames.owner]: owner.id,
    [labelNames.volume]: isNamed ? 'named' : 'unnamed',
  };
}

/** The filter of a list that finds what has this kind and owner. */
export function ownedBy(owner: ContainerOwner): { label: string[] } {
  return { label: [`${labelNames.kind}=${KIND}`, `${labelNames.owner}=${owner.id}`] };
}

/** Whether labels are of a volume that this backend made, for whomever. */
export function isOwnKind(labels: Readonly<Record<string, string>> | null | undefined): boolean {
  return labels?.[labelNames.kind] === KIND;
}

/** The owner of a container with these labels; undefined for labels that name none. */
export function keeperIn(labels: Readonly<Record<string, string>>): ProcessIdentity | undefined {
  try {
    const parsed = processIdentitySchema.safeParse(JSON.parse(labels[labelNames.keeper] ?? ''));
    return parsed.success ? parsed.data : undefined;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

/** Volumes that no caller named are kept up to this number, newest first; those of running containers always. */
const KEPT_VOLUMES = 200;

export interface LeftoverOptions {
  readonly engine: DockerEngine;
  readonly owner: ContainerOwner;
  readonly logger: Logger;
  /** Of the process that looks after a container. */
  readonly keeperState: (keeper: ProcessIdentity) => Promise<ProcessState>;
}

/** Removes containers of servers and keepers that have died, if the engine answers. */
export async function sweepContainers(options: LeftoverOptions): Promise<void> {
  const { engine, owner, logger, keeperState } = options;
  const listed = await engine.call((client, abortSignal) =>
    client.listContainers({ all: true, filters: ownedBy(owner), abortSignal }),
  );
  if (listed.kind !== 'value') return;
  for (const { Id, Names, Labels } of listed.value) {
    const keeper = keeperIn(Labels);
    if (keeper !== undefined && (await keeperState(keeper)) !== 'gone') continue;
    const answer = await engine.call((client, abortSignal) =>
      client.getContainer(Id).remove({ force: true, v: true, abortSignal }),
    );
    if (answer.kind === 'value') logger.info('Removed a container that was left behind.', { name: Names[0] });
  }
  await pruneVolumes(options);
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
