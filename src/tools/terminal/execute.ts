import { z } from 'zod';
import type { CommandOutcome } from '../../editor/run-command.js';
import { defineTool } from '../define-tool.js';
import {
  callerOf,
  MAX_OUTPUT_BYTES,
  MAX_WAIT_SECONDS,
  outputInput,
  terminalIdInput,
} from './terminal-fields.js';

const DEFAULT_TIMEOUT_SECONDS = 30;
const MAX_COMMAND_CHARS = 100_000;
const NO_EXIT_CODE =
  'The shell told no exit code: the command may have been incomplete or wrong in its syntax, and was interrupted then.';

export const execute = defineTool({
  name: 'execute',
  title: 'Run a command in a terminal of VS Code',
  toolset: 'terminal',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'run a command in a VS Code terminal',
  description:
    'Run a command where the user sees it. Gives its newest output and exit code. After timeout_seconds it goes on: read_terminal.',
  maxResultChars: 2 * MAX_OUTPUT_BYTES,
  input: {
    command: z.string().min(1).max(MAX_COMMAND_CHARS).describe('Line or lines for the shell'),
    terminal_id: terminalIdInput
      .optional()
      .describe('Default: an idle one that this server made in path, or a new one'),
    path: z.string().optional().describe('Folder that a window has open. Default: the active project'),
    timeout_seconds: z.int().min(1).max(MAX_WAIT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS),
    ...outputInput,
  },
  output: {
    terminal_id: z.string(),
    state: z.enum(['running', 'ended']),
    exit_code: z.int().nullable(),
    /** Where the text begins. */
    from: z.int(),
    cursor: z.int(),
    /** Characters of its output before the text. */
    left_out: z.int().optional(),
    note: z.string().optional(),
    text: z.string(),
  },
  handle: async (args, services, call) => {
    const terminals = await services.terminals();
    const outcome = await terminals.execute(
      {
        command: args.command,
        terminalId: args.terminal_id,
        path: args.path,
        waitMs: args.timeout_seconds * 1_000,
        maxBytes: args.max_bytes,
        raw: args.raw,
      },
      callerOf(call),
    );
    const leftOut = outcome.from - outcome.start;
    const note = noteOf(outcome, args.timeout_seconds);
    return {
      terminal_id: outcome.terminalId,
      state: outcome.state,
      exit_code: outcome.exitCode,
      from: outcome.from,
      cursor: outcome.cursor,
      ...(leftOut > 0 && { left_out: leftOut }),
      ...(note !== '' && { note }),
      text: outcome.text,
    };
  },
});

function noteOf({ state, timedOut, exitCode, from, start }: CommandOutcome, seconds: number): string {
  const notes = [
    state === 'running' &&
      `It has not ended within ${seconds} s and goes on. Call read_terminal with the cursor and wait_seconds.`,
    timedOut && 'It ran for a day and was interrupted.',
    state === 'ended' && exitCode === null && !timedOut && NO_EXIT_CODE,
    from > start && `Its output before the text: read_terminal with cursor ${start}.`,
  ];
  return notes.filter((note) => note !== false).join(' ');
}
