import { z } from 'zod';
import { someNames } from '../../base/text.js';
import { fittingCount } from '../../mcp/answers.js';
import { made } from '../../mcp/tool.js';
import type { CopyOutcome } from '../../processes/docker/container-copies.js';
import { signalNamed } from '../../processes/process-handle.js';
import type { KillOutcome } from '../../processes/process-manager.js';
import type { ListedProcess } from '../../processes/process-service.js';
import { defineTool } from '../define-tool.js';
import { pidInput, stateOutput, stateView } from './process-fields.js';

/** How many ended processes a list names. */
const RECENT = 20;
const MAX_COMMAND_CHARS = 200;

export const ps = defineTool({
  name: 'ps',
  title: 'List processes',
  effect: 'read',
  description: 'Processes started by spawn: the running ones and those that ended last.',
  input: {},
  output: {
    processes: z.array(made<ReturnType<typeof listedView>>()),
    left_out: z.int().optional(),
  },
  handle: async (_args, services) => {
    const processes = await services.processes();
    const all = (await processes.list(RECENT)).map(listedView);
    const count = fittingCount(all);
    const leftOut = all.length - count;
    return { processes: all.slice(0, count), ...(leftOut > 0 && { leftOut }) };
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
      memory_mb: Math.round(stats.memoryBytes / 1_000_000),
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
    signal: z.string().max(20).default('SIGTERM').describe('Such as SIGINT, SIGKILL, SIGUSR1'),
  },
  output: { ...stateOutput, note: z.string() },
  handle: async ({ pid, signal }, services) => {
    const processes = await services.processes();
    const name = signalNamed(signal.toUpperCase().replace(/^(?!SIG)/, 'SIG'));
    const outcome = await processes.kill(pid, name);
    return { ...stateView(outcome.record), note: killNote(outcome, name) };
  },
});

function killNote({ record, left, leftBehind }: KillOutcome, name: string): string {
  if (leftBehind > 0) return `It had already ended; ${leftBehind} processes that it left behind were killed.`;
  if (left > 0) return `${left} processes could not be ended: the system holds them.`;
  if (record.status === 'running') return `${name} was sent; it still runs.`;
  return `It has ended, and none of its descendants is left.`;
}

const copyOutput = {
  /** Where it is now. */
  path: z.string(),
  files: z.int(),
  folders: z.int(),
  size_bytes: z.int(),
  note: z.string().optional(),
};

export const copyTo = defineTool({
  name: 'copy_to',
  title: 'Copy into a container',
  effect: 'destroy',
  description:
    'Copy a file or folder of this machine into a folder of a process’s container, which is created if missing. No links; at most 256 MB; not into /tmp.',
  input: {
    pid: pidInput,
    source: z.string().describe('Path on this machine, in the allowed roots'),
    destination: z.string().default('.').describe('Folder in the container; relative to /home/agent'),
  },
  output: copyOutput,
  handle: async ({ pid: processId, source: given, destination }, services) => {
    const [copies, source] = [await services.copies(), await services.activeProject.absolute(given)];
    return copyView(await copies.copyTo({ processId, source, destination }));
  },
});

export const copyFrom = defineTool({
  name: 'copy_from',
  title: 'Copy out of a container',
  effect: 'destroy',
  description:
    'Copy a file or folder out of a process’s container, also after its end (then from /home/agent). No links; at most 256 MB. Replaces files, does not merge folders.',
  input: {
    pid: pidInput,
    source: z.string().describe('Path in the container; relative to /home/agent'),
    destination: z.string().describe('Folder on this machine, in the allowed roots, or a new path in one'),
  },
  output: copyOutput,
  handle: async ({ pid: processId, source, destination: given }, services) => {
    const [copies, destination] = [await services.copies(), await services.activeProject.absolute(given)];
    return copyView(await copies.copyFrom({ processId, source, destination }));
  },
});

function copyView({ bytes: sizeBytes, secrets, ...counted }: CopyOutcome) {
  const note = `Not copied, because their names indicate secrets: ${someNames(secrets)}. Copy one by naming it as source.`;
  return { ...counted, sizeBytes, ...(secrets.length > 0 && { note }) };
}
