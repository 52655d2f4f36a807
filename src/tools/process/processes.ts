import { z } from 'zod';
import { fittingCount } from '../../mcp/answers.js';
import { signalNamed } from '../../processes/process-handle.js';
import type { KillOutcome } from '../../processes/process-manager.js';
import type { ListedProcess } from '../../processes/process-service.js';
import { made } from '../../mcp/tool.js';
import { defineTool } from '../define-tool.js';
import { pidInput, stateOutput, stateView } from './process-fields.js';

/** How many ended processes a list names. */
const RECENT = 20;
const MAX_COMMAND_CHARS = 200;
const MAX_SIGNAL_CHARS = 20;
const MB = 1_000_000;

export const ps = defineTool({
  name: 'ps',
  title: 'List processes',
  effect: 'read',
  description: 'Processes started by spawn: the running ones and those that ended last.',
  input: {},
  output: { processes: z.array(made<ReturnType<typeof listedView>>()), left_out: z.int().optional() },
  handle: async (_args, services) => {
    const processes = await services.processes();
    const all = (await processes.list(RECENT)).map(listedView);
    const count = fittingCount(all);
    const leftOut = all.length - count;
    return { processes: all.slice(0, count), ...(leftOut > 0 && { left_out: leftOut }) };
  },
});

/** CPU, memory, count and ports are of a running process and all that it has started. */
function listedView({ record, stats, printedBytes }: ListedProcess) {
  const until = record.ended_at === null ? Date.now() : Date.parse(record.ended_at);
  const { command_line: command, cwd, mode, tty, keep } = record;
  return {
    ...stateView(record),
    command: command.length > MAX_COMMAND_CHARS ? `${command.slice(0, MAX_COMMAND_CHARS - 1)}…` : command,
    cwd,
    mode,
    tty: tty !== null,
    keep,
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

export const kill = defineTool({
  name: 'kill',
  title: 'Signal or end a process',
  effect: 'destroy',
  description:
    'Signal a process and its descendants. SIGTERM, SIGINT and SIGQUIT escalate to SIGKILL until none is left.',
  input: {
    pid: pidInput,
    signal: z.string().max(MAX_SIGNAL_CHARS).default('SIGTERM').describe('Such as SIGINT, SIGKILL, SIGUSR1'),
  },
  output: { ...stateOutput, note: z.string() },
  handle: async ({ pid, signal }, services) => {
    const processes = await services.processes();
    const name = signalNamed(signal.toUpperCase().replace(/^(?!SIG)/, 'SIG'));
    const outcome = await processes.kill(pid, name);
    return { ...stateView(outcome.record), note: noteOf(outcome, name) };
  },
});

function noteOf({ record, left, leftBehind }: KillOutcome, name: string): string {
  if (leftBehind > 0) return `It had already ended; ${leftBehind} processes that it left behind were killed.`;
  if (left > 0) return `${left} processes could not be ended: the system holds them.`;
  if (record.status === 'running') return `${name} was sent; it still runs.`;
  return `It has ended, and none of its descendants is left.`;
}
