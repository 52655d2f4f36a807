import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { notRunning, signalNamed } from '../child-handle.js';
import { listenersInTable } from '../host/port-tables.js';
import type { ProcessStats } from '../process-handle.js';
import type { Container, Printed } from './container.js';
import { refusalOf, type EngineAnswer } from './engine/docker-engine.js';

/**
 * What init does not pass on: it cannot be told not to take them itself. SIGKILL is no such case: with init, all ends.
 * https://github.com/krallin/tini/blob/v0.19.0/src/tini.c (configure_signals)
 */
const NOT_PASSED_ON: ReadonlySet<NodeJS.Signals> = new Set<NodeJS.Signals>([
  ...(['SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGIOT', 'SIGTRAP'] as const),
  ...(['SIGSYS', 'SIGTTIN', 'SIGTTOU', 'SIGCHLD', 'SIGSTOP'] as const),
]);

/** All but init and the shell itself (kill(2)). Written so for busybox, which knows no `--`, and dash, which needs it behind `-s`. */
const SIGNAL_ALL = 'echo; kill "-$1" -1';
/**
 * The code of a shell that SIGKILL ended. A signal that ends the program ends the container, and the kernel with it the shell
 * that sent it, at times before that program has ended: then its empty line says that it had come to the sending.
 */
const KILLED_CODE = 137;
/** The engine's answers about a container that does not run, and one that is gone. */
const NOT_RUNNING_STATUSES: readonly number[] = [409, 404];

/**
 * To the program and all that came of it; to the program alone where the image has no shell, or the container may start no more
 * processes. SIGKILL ends all. Throws PROCESS_NOT_RUNNING, DOCKER_UNAVAILABLE, INVALID_ARGUMENTS.
 */
export async function signalAll(container: Container, name: NodeJS.Signals): Promise<void> {
  signalNamed(name);
  if (name !== 'SIGKILL') {
    const answer = await container.run(['sh', '-c', SIGNAL_ALL, 'sh', name.slice('SIG'.length)]);
    if (answer.kind === 'value' && wasSent(answer.value)) return;
    if (answer.kind === 'unreachable') throw refusalOf(answer, `the signal ${name}`);
    if (isNotRunning(answer)) throw notRunning();
    if (NOT_PASSED_ON.has(name))
      throw new BridgeError(
        'DOCKER_UNAVAILABLE',
        `The signal ${name} could not be sent inside the container: its image has no sh, or it may start no more processes.`,
        'Send SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1 or SIGUSR2, or end the process by SIGKILL.',
      );
  }
  const answer = await container.signal(name);
  if (answer.kind === 'value') return;
  throw isNotRunning(answer) ? notRunning() : refusalOf(answer, `the signal ${name}`);
}

function wasSent({ exitCode, stdout }: Printed): boolean {
  return exitCode === 0 || (exitCode === KILLED_CODE && stdout !== '');
}

function isNotRunning(answer: EngineAnswer<unknown>): boolean {
  return answer.kind === 'refused' && NOT_RUNNING_STATUSES.includes(answer.status);
}

const NANOSECONDS = 1e9;

const statsSchema = z.object({
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: z.number() }) }),
  memory_stats: z.object({
    usage: z.number().default(0),
    stats: z
      .object({ total_inactive_file: z.number().optional(), inactive_file: z.number().optional() })
      .default({}),
  }),
  pids_stats: z.object({ current: z.number().default(0) }),
});

/**
 * What the engine counts for a container: processor time, memory without the cache that the kernel gives back, and tasks
 * (threads count, init does not). Ports are read inside, if the image has a shell; on the network of the machine itself they
 * would be everybody's, and are left out.
 */
export async function statsOfContainer(
  container: Container,
  options: { readonly hasOwnPorts: boolean },
): Promise<ProcessStats> {
  const asked = await container.ask((one, abortSignal) => {
    const query = { stream: false, 'one-shot': true, abortSignal } as const;
    return one.stats(query);
  });
  if (asked.kind !== 'value') throw refusalOf(asked, 'the statistics of a container');
  const { cpu_stats, memory_stats, pids_stats } = statsSchema.parse(asked.value);
  const cache = memory_stats.stats.total_inactive_file ?? memory_stats.stats.inactive_file ?? 0;
  return {
    cpuSeconds: cpu_stats.cpu_usage.total_usage / NANOSECONDS,
    memoryBytes: Math.max(0, memory_stats.usage - cache),
    processCount: Math.max(0, pids_stats.current - 1),
    listeningPorts: options.hasOwnPorts ? await portsInside(container) : [],
  };
}

async function portsInside(container: Container): Promise<number[]> {
  const script =
    'for table in /proc/net/tcp /proc/net/tcp6; do while read -r line; do echo "$line"; done <$table; done';
  const read = await container.run(['sh', '-c', script]);
  // No shell in the image, or no process more: that it listens somewhere is then not known.
  if (read.kind !== 'value') return [];
  const ports = listenersInTable(read.value.stdout).map(({ port }) => port);
  return [...new Set(ports)].sort((a, b) => a - b);
}
