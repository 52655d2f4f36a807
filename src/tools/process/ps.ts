import { z } from 'zod';
import type { ListedProcess } from '../../processes/process-service.js';
import { defineTool } from '../define-tool.js';
import { fittingCount } from '../../mcp/output-budget.js';
import { stateOutput, stateView } from './process-fields.js';

const RECENT = 20;
const MAX_COMMAND_CHARS = 200;
const MB = 1_000_000;

const listedOutput = z.object({
  ...stateOutput,
  command: z.string(),
  cwd: z.string(),
  mode: z.enum(['host', 'docker']),
  tty: z.boolean(),
  keep: z.boolean(),
  age_seconds: z.int(),
  output_bytes: z.int(),
  /** Of a running process and all that it has started. */
  cpu_seconds: z.number().optional(),
  memory_mb: z.number().optional(),
  process_count: z.int().optional(),
  ports: z.array(z.int()).optional(),
});

export const ps = defineTool({
  name: 'ps',
  title: 'List processes',
  toolset: 'process',
  effect: 'read',
  description: 'Processes started by spawn: the running ones and those that ended last.',
  input: {},
  output: { processes: z.array(listedOutput), left_out: z.int().optional() },
  handle: async (_args, services) => {
    const processes = await services.processes();
    const all = (await processes.list(RECENT)).map((one) => listedView(one));
    const count = fittingCount(all);
    return {
      processes: all.slice(0, count),
      ...(count < all.length && { left_out: all.length - count }),
    };
  },
});

function listedView({ record, stats, printedBytes }: ListedProcess): z.input<typeof listedOutput> {
  const until = record.ended_at === null ? Date.now() : Date.parse(record.ended_at);
  const { command_line: command } = record;
  return {
    ...stateView(record),
    command: command.length > MAX_COMMAND_CHARS ? `${command.slice(0, MAX_COMMAND_CHARS - 1)}…` : command,
    cwd: record.cwd,
    mode: record.mode,
    tty: record.tty !== null,
    keep: record.keep,
    age_seconds: Math.max(0, Math.round((until - Date.parse(record.started_at)) / 1_000)),
    output_bytes: printedBytes,
    ...(stats !== undefined && {
      cpu_seconds: Math.round(stats.cpuSeconds * 100) / 100,
      memory_mb: Math.round(stats.memoryBytes / MB),
      process_count: stats.processCount,
    }),
    ...(stats?.listeningPorts && { ports: [...stats.listeningPorts] }),
  };
}
