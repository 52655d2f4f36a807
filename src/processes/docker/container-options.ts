// Pure: what a container may do and what it sees.
import type Dockerode from 'dockerode';
import type { SpawnOptions, TerminalSize } from '../../pty/child.js';
import type { ProcessSpec } from '../process-handle.js';
import { ENTRY_TEXT, RELAY_FOLDER } from './container-texts.js';

/** The home and the usual working directory of a process: a volume that outlives the container. */
export const WORK_DIRECTORY = '/home/agent';
export const PROJECT_DIRECTORY = '/project';
/** Memory of the container: nothing in it lasts, is executed, or is copied. */
export const TMPFS_DIRECTORIES: readonly string[] = ['/tmp', '/var/tmp'];
/** User and group of everything that runs in the container of a process. */
export const AGENT_ID = 1000;
/** The label by which the containers of tasks are known to a person. */
export const TASK_LABEL = 'claude-code-bridge.task';
/** Where the prompt of a task lies in its container. */
export const PROMPT_FILE = '/claude-code-bridge/prompt.md';

const PROCESS_MEMORY_MB = 512;
const BYTES_PER_MB = 1024 * 1024;
const NANO_CPUS = 1e9;
const PROCESS_LIMIT = 4_096;
/** Counted into the container's memory; a limit of its own, so that a full /tmp is an error and not the end. */
const TMPFS = 'rw,noexec,nosuid,nodev,size=64m';
/** Hooks carry whole files; this memory counts as the container's. */
const RELAY_TMPFS = 'rw,noexec,nosuid,nodev,size=128m,mode=0700';

/** A process in a container of its own, with the image that runs. */
export type DockerSpec = ProcessSpec & { readonly image: string };

export interface TaskContainerPlan {
  readonly image: string;
  /** `bridge` is the engine's default network, `none` is none; any other is a network of that name, or `host`. */
  readonly network: string;
  readonly memoryMb: number;
  readonly taskId: string;
  /** `containerLabels`: whose it is. */
  readonly labels: Readonly<Record<string, string>>;
  readonly uid: number;
  readonly gid: number;
  /** Folders of this machine, each mounted at its own path and writable. */
  readonly folders: readonly string[];
}

export interface TaskProgram extends SpawnOptions {
  /** Of its terminal; without one it is on pipes, of which the end of stdin is the program's, too. */
  readonly size?: TerminalSize;
  /** The program's stdin is the prompt instead of the terminal. */
  readonly stdinFile?: string | undefined;
}

/** What every container of the bridge is; the image's own entry point and its health check are left out. */
const COMMON = {
  Healthcheck: { Test: ['NONE'] },
  StopSignal: 'SIGTERM',
  OpenStdin: true,
  StdinOnce: true,
  AttachStdin: true,
  AttachStdout: true,
  AttachStderr: true,
};

/** What every container is held to. */
function limits(memoryMb: number): Dockerode.HostConfig {
  return {
    // The first process of a container takes no signal that it does not handle, and must reap what others leave behind.
    Init: true,
    Memory: memoryMb * BYTES_PER_MB,
    // The same: no swap beyond it.
    MemorySwap: memoryMb * BYTES_PER_MB,
    // Without any bound a loop of forks would take the machine along.
    PidsLimit: PROCESS_LIMIT,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true'],
    // Output is stored on this side; the engine would store it a second time, without a limit.
    LogConfig: { Type: 'none', Config: {} },
    RestartPolicy: { Name: 'no' },
  };
}

/** The request that creates the container of a process, with this volume as its working directory. */
export function processContainer(
  { command, cwd, image, tty, mountProject, network, env }: DockerSpec,
  name: string,
  labels: Record<string, string>,
  volume: { readonly name: string; readonly labels: Record<string, string> },
): Dockerode.ContainerCreateOptions {
  const [program, ...args] = command;
  const work: Dockerode.MountSettings = {
    Type: 'volume',
    Source: volume.name,
    Target: WORK_DIRECTORY,
    VolumeOptions: { NoCopy: false, Labels: volume.labels, DriverConfig: { Name: 'local', Options: {} } },
  };
  const project: Dockerode.MountSettings = {
    Type: 'bind',
    Source: mountProject ?? '',
    Target: PROJECT_DIRECTORY,
    ReadOnly: true,
    BindOptions: { Propagation: 'rprivate' },
  };
  // Of the bridge's own environment nothing; HOME, because the image need not know the user.
  const defaults = { HOME: WORK_DIRECTORY, ...(tty !== undefined && { TERM: 'xterm-256color' }) };
  return {
    ...COMMON,
    name,
    Image: image,
    Labels: labels,
    Entrypoint: [program],
    Cmd: args,
    WorkingDir: cwd,
    User: `${AGENT_ID}:${AGENT_ID}`,
    Env: assignments({ ...defaults, ...env }),
    Tty: tty !== undefined,
    HostConfig: {
      ...limits(PROCESS_MEMORY_MB),
      NanoCpus: NANO_CPUS,
      NetworkMode: network ?? 'none',
      Tmpfs: Object.fromEntries(TMPFS_DIRECTORIES.map((path) => [path, TMPFS])),
      Mounts: mountProject === undefined ? [work] : [work, project],
      ...(tty !== undefined && { ConsoleSize: [tty.rows, tty.columns] }),
    },
  };
}

/** The same for the container of a task: one at a time has its name. */
export function taskContainer(
  { taskId, image, network, uid, gid, memoryMb, labels, folders }: TaskContainerPlan,
  { command, cwd, env, size, stdinFile }: TaskProgram,
): Dockerode.ContainerCreateOptions {
  const promptFile = stdinFile === undefined ? '' : PROMPT_FILE;
  return {
    ...COMMON,
    name: `claude-code-bridge-${taskId}`,
    Image: image,
    Labels: { ...labels, [TASK_LABEL]: taskId },
    Entrypoint: ['/bin/sh', '-c', ENTRY_TEXT, 'claude-code-bridge', promptFile],
    Cmd: [...command],
    WorkingDir: cwd,
    User: `${uid}:${gid}`,
    Env: assignments(env),
    Tty: size !== undefined,
    HostConfig: {
      ...limits(memoryMb),
      NetworkMode: network,
      // Mounts, unlike binds, are refused when the folder is not there.
      Mounts: folders.map((folder) => ({ Type: 'bind', Source: folder, Target: folder })),
      Tmpfs: { [RELAY_FOLDER]: `${RELAY_TMPFS},uid=${uid},gid=${gid}` },
    },
  };
}

function assignments(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

/** Places and sockets of this machine; a `*` at the end makes a prefix. */
const OF_THIS_MACHINE: readonly string[] = [
  ...['HOME', 'PATH', 'SHELL', 'USER', 'LOGNAME', 'TMPDIR', 'XDG_*', 'SSH_AUTH_SOCK', 'CLAUDE_CONFIG_DIR'],
  ...['SSL_CERT_*', 'NODE_EXTRA_CA_CERTS'],
];

/**
 * The environment of the agent in a container, without what names places of this machine; `PATH` is the image's. Credentials go along
 * only as variables: `ANTHROPIC_API_KEY`, `CLAUDE_CODE_OAUTH_TOKEN` and what the user lets through.
 */
export function containerEnvironment(
  env: Readonly<Record<string, string>>,
  homeDir: string,
): Record<string, string> {
  const isPlace = (name: string): boolean =>
    OF_THIS_MACHINE.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
  const kept = Object.entries(env).filter(([name]) => !isPlace(name));
  // It is one: the CLI refuses some modes to root elsewhere, and a project of root's is worked on by root.
  return { ...Object.fromEntries(kept), HOME: homeDir, IS_SANDBOX: '1' };
}
