import { z } from 'zod';
import { listenersInTable } from '../host/port-tables.js';
import type { ProcessStats } from '../process-handle.js';
import type { Container } from './container.js';
import { refusalOf } from './engine/docker-engine.js';

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
