// Pure: what the engine is asked to make for a task.
import type { ContainerCreateOptions } from 'dockerode';
import type { SpawnOptions, TerminalSize } from '../../../pty/child.js';
import { attached, limited } from '../container-options.js';
import { ENTRY_TEXT, RELAY_FOLDER } from '../container-texts.js';

/** The label by which the containers of tasks are known to a person. */
export const TASK_LABEL = 'claude-code-bridge.task';

/** Where the prompt lies in a container. */
const PROMPT_FOLDER = '/claude-code-bridge';
export const PROMPT_FILE = `${PROMPT_FOLDER}/prompt.md`;

const BYTES_PER_MB = 1024 * 1024;
/** Hooks carry whole files; this memory counts as the container's. */
const RELAY_SIZE = '128m';

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

/** How the container is made; the program in it is `options.command`, with the image's own entry point left out. */
export function taskContainer(plan: TaskContainerPlan, options: TaskProgram): ContainerCreateOptions {
  const memoryBytes = plan.memoryMb * BYTES_PER_MB;
  const isTerminal = options.size !== undefined;
  const promptFile = options.stdinFile === undefined ? '' : PROMPT_FILE;
  return {
    // One task has one container at a time.
    name: `claude-code-bridge-${plan.taskId}`,
    Image: plan.image,
    Labels: { ...plan.labels, [TASK_LABEL]: plan.taskId },
    Entrypoint: ['/bin/sh', '-c', ENTRY_TEXT, 'claude-code-bridge', promptFile],
    Cmd: [...options.command],
    Env: Object.entries(options.env).map(([name, value]) => `${name}=${value}`),
    WorkingDir: options.cwd,
    User: `${plan.uid}:${plan.gid}`,
    ...attached(isTerminal),
    StopSignal: 'SIGTERM',
    HostConfig: {
      ...limited(memoryBytes),
      NetworkMode: plan.network,
      // Mounts, unlike binds, are refused when the folder is not there.
      Mounts: plan.folders.map((folder) => ({ Type: 'bind', Source: folder, Target: folder })),
      Tmpfs: {
        [RELAY_FOLDER]: `rw,noexec,nosuid,nodev,size=${RELAY_SIZE},mode=0700,uid=${plan.uid},gid=${plan.gid}`,
      },
    },
  };
}

/** Places and sockets of this machine; a `*` at the end makes a prefix. */
const OF_THIS_MACHINE: readonly string[] = [
  ...['HOME', 'PATH', 'SHELL', 'USER', 'LOGNAME', 'TMPDIR', 'XDG_*', 'SSH_AUTH_SOCK', 'CLAUDE_CONFIG_DIR'],
  ...['SSL_CERT_*', 'NODE_EXTRA_CA_CERTS'],
];

/**
 * The environment of the agent, without what names places of this machine; `PATH` is the image's. Credentials go along only
 * as variables: `ANTHROPIC_API_KEY`, `CLAUDE_CODE_OAUTH_TOKEN` and what the user lets through.
 */
export function containerEnvironment(
  env: Readonly<Record<string, string>>,
  homeDir: string,
): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([name]) =>
      !OF_THIS_MACHINE.some((pattern) =>
        pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
      ),
  );
  // It is one: the CLI refuses some modes to root elsewhere, and a project of root's is worked on by root.
  return { ...Object.fromEntries(kept), HOME: homeDir, IS_SANDBOX: '1' };
}
