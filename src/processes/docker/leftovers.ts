import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { ignoreBridgeError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { ProcessState } from '../../store/process-identity.js';
import { type ProcessIdentity, processIdentitySchema } from '../../store/process-place.js';
import { Container } from './container.js';
import type { DockerEngine } from './engine.js';

/** Whose a container or a volume is: the servers of one user on one machine. All that the bridge makes has it. */
const OWNER_LABEL = 'claude-code-bridge.owner';
/** The process that looks after a container, as JSON. */
const KEEPER_LABEL = 'claude-code-bridge.keeper';
/** `named`: a volume that a caller named, which is never removed by the bridge. */
const VOLUME_LABEL = 'claude-code-bridge.volume';
/** Volumes that no caller named stay up to this number, newest first; those of running containers always. */
const KEPT_VOLUMES = 200;

const keeperSchema = z.string().transform((text, context) => {
  try {
    return processIdentitySchema.parse(JSON.parse(text));
  } catch {
    context.addIssue('no identity of a process');
    return z.NEVER;
  }
});

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

export function containerLabels({ id, keeper }: ContainerOwner): Record<string, string> {
  return { [OWNER_LABEL]: id, [KEEPER_LABEL]: JSON.stringify(keeper) };
}

export function volumeLabels({ id }: ContainerOwner, isNamed: boolean): Record<string, string> {
  return { [OWNER_LABEL]: id, [VOLUME_LABEL]: isNamed ? 'named' : 'unnamed' };
}

/** Whether a volume with these labels was made by the bridge, for whomever. */
export function isVolumeOfBridge(labels: Readonly<Record<string, string>> | null | undefined): boolean {
  return labels?.[VOLUME_LABEL] !== undefined;
}

export interface LeftoverOptions {
  readonly engine: DockerEngine;
  readonly owner: ContainerOwner;
  readonly logger: Logger;
  /** Of the process that looks after a container. */
  readonly keeperState: (keeper: ProcessIdentity) => Promise<ProcessState>;
}

/** Removes containers of servers and keepers that have died, and volumes beyond their number, if the engine answers. */
export async function sweepContainers(options: LeftoverOptions): Promise<void> {
  await sweep(options).catch(ignoreBridgeError);
}

async function sweep({ engine, owner, logger, keeperState }: LeftoverOptions): Promise<void> {
  const label = [`${OWNER_LABEL}=${owner.id}`];
  const containers = await engine.call('to list containers', (client, abortSignal) =>
    client.listContainers({ all: true, filters: { label }, abortSignal }),
  );
  for (const { Id, Names, Labels } of containers) {
    const keeper = keeperSchema.safeParse(Labels[KEEPER_LABEL]);
    if (keeper.success && (await keeperState(keeper.data)) !== 'gone') continue;
    if (await new Container(engine, Id).remove())
      logger.info('Removed a container that was left behind.', { name: Names[0] });
  }
  const filters = { label: [...label, `${VOLUME_LABEL}=unnamed`], dangling: ['true'] };
  const { Volumes } = await engine.call('to list volumes', (client, abortSignal) =>
    client.listVolumes({ filters, abortSignal }),
  );
  const oldest = Volumes.map((one) => ({ name: one.Name, at: createdAt(one) }))
    .sort((a, b) => b.at.localeCompare(a.at))
    .slice(KEPT_VOLUMES);
  for (const { name } of oldest) {
    // One that came into use meanwhile is refused, and stays.
    const remove = engine.call('to remove a volume', (client, abortSignal) =>
      client.getVolume(name).remove({ abortSignal }),
    );
    await remove.catch(ignoreBridgeError);
  }
}

/** The engine's own time stamp sorts as text; where there is none, it is the oldest. */
function createdAt(volume: object): string {
  return 'CreatedAt' in volume && typeof volume.CreatedAt === 'string' ? volume.CreatedAt : '';
}
