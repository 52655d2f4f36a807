// Pure: what a container may do and what it sees.
import type Dockerode from 'dockerode';
import {
  AGENT_ID,
  CPUS,
  MEMORY_BYTES,
  PROCESS_LIMIT,
  PROJECT_DIRECTORY,
  TMPFS_DIRECTORIES,
  WORK_DIRECTORY,
  type DockerSpec,
} from './docker-spec.js';

const NANO_CPUS = 1e9;
/** Counted into the container's memory; a limit of its own, so that a full /tmp is an error and not the end. */
const TMPFS_MEGABYTES = 64;

export interface ContainerSurroundings {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly volume: { readonly name: string; readonly labels: Record<string, string> };
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
    Tty: spec.tty !== undefined,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      // The first process of a container takes no signal that it does not handle, and must reap what others leave behind.
      Init: true,
      Memory: MEMORY_BYTES,
      // The same: no swap beyond it.
      MemorySwap: MEMORY_BYTES,
      NanoCpus: CPUS * NANO_CPUS,
      PidsLimit: PROCESS_LIMIT,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true'],
      NetworkMode: spec.network ?? 'none',
      Tmpfs: Object.fromEntries(
        TMPFS_DIRECTORIES.map((path) => [path, `rw,noexec,nosuid,nodev,size=${TMPFS_MEGABYTES}m`]),
      ),
      Mounts: mountsOf(spec, volume),
      // Output is kept on this side; the engine would keep it a second time, without a limit.
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
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
