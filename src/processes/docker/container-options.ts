// Pure: what a container may do and what it sees.
import type Dockerode from 'dockerode';
import type { ProcessSpec } from '../process-handle.js';

/** What is asked for: a process in a container of its own. */
export interface DockerOptions extends ProcessSpec {
  readonly image?: string;
  /** A network of the engine, such as `bridge`; without it there is none but the container's own loopback. */
  readonly network?: string;
  /** Name of a volume to go on with; without it the container gets a new one. */
  readonly volume?: string;
  /** A folder of this machine that is seen at PROJECT_DIRECTORY, read only: the AllowedPath of a SpawnRequest. */
  readonly mountProject?: string;
}

export interface DockerSpec extends DockerOptions {
  readonly image: string;
}

/** The home and the usual working directory: a volume that outlives the container. */
export const WORK_DIRECTORY = '/home/agent';
export const PROJECT_DIRECTORY = '/project';
/** Memory of the container: nothing in it lasts, is executed, or is copied. */
export const TMPFS_DIRECTORIES: readonly string[] = ['/tmp', '/var/tmp'];
/** User and group of everything that runs in a container. */
export const AGENT_ID = 1000;

const MEMORY_BYTES = 512 * 1024 * 1024;
const CPUS = 1;
const PROCESS_LIMIT = 4_096;

const NANO_CPUS = 1e9;
/** Counted into the container's memory; a limit of its own, so that a full /tmp is an error and not the end. */
const TMPFS_MEGABYTES = 64;

export interface ContainerSurroundings {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly volume: { readonly name: string; readonly labels: Record<string, string> };
}

/** Input and outputs of a container, for this side. */
export function attached(isTerminal: boolean) {
  return {
    Tty: isTerminal,
    OpenStdin: true,
    StdinOnce: !isTerminal,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
  };
}

/** What every container of the bridge is held to. */
export function limited(memoryBytes: number): Dockerode.HostConfig {
  return {
    // The first process of a container takes no signal that it does not handle, and must reap what others leave behind.
    Init: true,
    Memory: memoryBytes,
    // The same: no swap beyond it.
    MemorySwap: memoryBytes,
    // Without any bound a loop of forks would take the machine along.
    PidsLimit: PROCESS_LIMIT,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true'],
    // Output is stored on this side; the engine would store it a second time, without a limit.
    LogConfig: { Type: 'none', Config: {} },
    RestartPolicy: { Name: 'no' },
  };
}

/** The request that creates the container of a process. */
export function containerOptions(
  spec: DockerSpec,
  { name, labels, volume }: ContainerSurroundings,
): Dockerode.ContainerCreateOptions {
  const [program, ...args] = spec.command;
  return {
    name,
    Image: spec.image,
    Labels: labels,
    // The image's own entry point would run in front of the program, and its health check beside it.
    Entrypoint: [program],
    Cmd: args,
    Healthcheck: { Test: ['NONE'] },
    WorkingDir: spec.cwd,
    User: `${AGENT_ID}:${AGENT_ID}`,
    Env: environmentOf(spec),
    ...attached(spec.tty !== undefined),
    StdinOnce: true,
    HostConfig: {
      ...limited(MEMORY_BYTES),
      NanoCpus: CPUS * NANO_CPUS,
      NetworkMode: spec.network ?? 'none',
      Tmpfs: Object.fromEntries(
        TMPFS_DIRECTORIES.map((path) => [path, `rw,noexec,nosuid,nodev,size=${TMPFS_MEGABYTES}m`]),
      ),
      Mounts: mountsOf(spec, volume),
      ...(spec.tty !== undefined && { ConsoleSize: [spec.tty.rows, spec.tty.columns] }),
    },
  };
}

/** Of the bridge's own environment a container gets nothing; HOME, because the image need not know the user. */
function environmentOf(spec: DockerSpec): string[] {
  const defaults = { HOME: WORK_DIRECTORY, ...(spec.tty !== undefined && { TERM: 'xterm-256color' }) };
  return Object.entries({ ...defaults, ...spec.env }).map(([name, value]) => `${name}=${value}`);
}

function mountsOf(spec: DockerSpec, volume: ContainerSurroundings['volume']): Dockerode.MountConfig {
  const work: Dockerode.MountSettings = {
    Type: 'volume',
    Source: volume.name,
    Target: WORK_DIRECTORY,
    VolumeOptions: {
      NoCopy: false,
      Labels: volume.labels,
      DriverConfig: { Name: 'local', Options: {} },
    },
  };
  if (spec.mountProject === undefined) return [work];
  return [
    work,
    {
      Type: 'bind',
      Source: spec.mountProject,
      Target: PROJECT_DIRECTORY,
      ReadOnly: true,
      BindOptions: { Propagation: 'rprivate' },
    },
  ];
}
