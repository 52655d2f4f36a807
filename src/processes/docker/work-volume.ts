import { BridgeError } from '../../base/errors.js';
import { posix } from 'node:path';
import type { Container } from './container.js';
import { isOwnKind, volumeLabels, type ContainerOwner } from './leftover-containers.js';
import { refusalOf, type DockerEngine } from './engine/docker-engine.js';
import { AGENT_ID, WORK_DIRECTORY, type DockerSpec } from './container-options.js';

const PREFIX = 'process-mcp-volume-';
/** What an engine takes as a name, less the prefix. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const NO_SUCH_STATUS = 404;
const DIRECTORY_MODE = 0o755;

export interface WorkVolume {
  readonly name: string;
  readonly labels: Record<string, string>;
  /** It holds nothing yet, and may belong to root. */
  readonly isNew: boolean;
}

/** The full name of a volume that a caller named, with or without the prefix that all of them have. */
function volumeName(named: string): string {
  return `${PREFIX}${named.startsWith(PREFIX) ? named.slice(PREFIX.length) : named}`;
}

/** The volume of a process: its own new one, or the one that was named. Throws INVALID_ARGUMENTS for other programs' volumes. */
export async function chooseVolume(
  engine: DockerEngine,
  owner: ContainerOwner,
  { id, volume }: DockerSpec,
): Promise<WorkVolume> {
  if (volume === undefined) return { name: volumeName(id), labels: volumeLabels(owner, false), isNew: true };
  const name = volumeName(volume);
  if (!NAME.test(name.slice(PREFIX.length))) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${JSON.stringify(volume)} cannot be the name of a volume.`,
      'Use up to 128 letters, digits, ".", "_" and "-", beginning with a letter or digit.',
    );
  }
  const known = await engine.call((client, abortSignal) => client.getVolume(name).inspect({ abortSignal }));
  if (known.kind === 'refused' && known.status === NO_SUCH_STATUS)
    return { name, labels: volumeLabels(owner, true), isNew: true };
  if (known.kind !== 'value') throw refusalOf(known, `the volume ${name}`);
  if (isOwnKind(known.value.Labels)) return { name, labels: {}, isNew: false };
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The volume ${name} was not made by the bridge, so it is not used.`,
    'Choose another name.',
  );
}

/** Gives a new volume, mounted in a container that was not started yet, to the user that will run there. */
export async function giveToAgent(container: Container): Promise<void> {
  const answer = await container.put(posix.dirname(WORK_DIRECTORY), {
    name: posix.basename(WORK_DIRECTORY),
    type: 'directory',
    mode: DIRECTORY_MODE,
    uid: AGENT_ID,
    gid: AGENT_ID,
  });
  if (answer.kind !== 'value') throw refusalOf(answer, 'to prepare the working directory');
}
