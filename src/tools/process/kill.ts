import { z } from 'zod';
import { signalNamed } from '../../processes/process-handle.js';
import type { KillOutcome } from '../../processes/process-manager.js';
import { defineTool } from '../define-tool.js';
import { pidInput, stateOutput, stateView } from './process-fields.js';

const MAX_NAME_CHARS = 20;

export const kill = defineTool({
  name: 'kill',
  title: 'Signal or end a process',
  toolset: 'process',
  effect: 'destroy',
  description:
    'Signal a process and its descendants. SIGTERM, SIGINT and SIGQUIT escalate to SIGKILL until none is left.',
  input: {
    pid: pidInput,
    signal: z.string().max(MAX_NAME_CHARS).default('SIGTERM').describe('Such as SIGINT, SIGKILL, SIGUSR1'),
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
