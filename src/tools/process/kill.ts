import { constants } from 'node:os';
import { z } from 'zod';
import type { KillOutcome } from '../../processes/process-service.js';
import { BridgeError } from '../../base/errors.js';
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
    const name = signalNamed(signal);
    const outcome = await processes.kill(pid, name);
    return { ...stateView(outcome.record), note: noteOf(outcome, name) };
  },
});

/** Throws INVALID_ARGUMENTS for a name that no signal of this system has. */
function signalNamed(given: string): NodeJS.Signals {
  const name = given.toUpperCase().replace(/^(?!SIG)/, 'SIG');
  if (isSignal(name)) return name;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `Unknown signal ${JSON.stringify(given)}.`,
    'Use one such as SIGTERM, SIGINT, SIGKILL, SIGHUP, SIGUSR1, SIGSTOP or SIGCONT.',
  );
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}

function noteOf({ record, left, leftBehind }: KillOutcome, name: string): string {
  if (leftBehind > 0) return `It had already ended; ${leftBehind} processes that it left behind were killed.`;
  if (left > 0) return `${left} processes could not be ended: the system holds them.`;
  if (record.status === 'running') return `${name} was sent; it still runs.`;
  return `It has ended, and none of its descendants is left.`;
}
