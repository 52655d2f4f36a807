import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { processIdentitySchema, type ProcessIdentity } from '../../store/process-place.js';

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
  /** The same for all servers that may clean up after each other, and for nobody else. */
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
