import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import type { EditorTerminals } from '../../editor/editor-terminals.js';
import type { EditorCaller } from '../../editor/editor-connection.js';
import type { CommandOutcome } from '../../editor/run-command.js';
import { bytesOfKeys } from '../../processes/keys.js';
import type { InCamelCase } from '../../mcp/tool.js';
import {
  defineTool,
  keysInput,
  MAX_OUTPUT_BYTES,
  MAX_WAIT_SECONDS,
  offsetInput,
  outputBytesInput,
  someText,
  within,
} from '../define-tool.js';
import { callerOf, terminalIdInput } from './terminal-fields.js';

const NO_EXIT_CODE =
  'The shell told no exit code: the command may have been incomplete or wrong in its syntax, and was interrupted then.';

/** How much of a terminal's output an answer holds, and how. */
const outputInput = {
  max_bytes: outputBytesInput,
  raw: z.boolean().default(false).describe('Keep escape sequences'),
};

const input = {
  command: someText(100_000).optional().describe('Line or lines for the shell'),
  text: z.string().max(60_000).optional().describe('Instead of command: typed into what runs, as it is'),
  keys: keysInput.describe('Typed after text: ctrl-c, enter, esc, tab, up …'),
  terminal_id: terminalIdInput
    .optional()
    .describe('Default: an idle one that this server made in path, or a new one'),
  path: z.string().optional().describe('Folder that a window has open. Default: the active project'),
  timeout_seconds: within(1, MAX_WAIT_SECONDS).default(30),
  ...outputInput,
};
type Arguments = InCamelCase<z.output<z.ZodObject<typeof input>>>;

export const execute = defineTool({
  name: 'execute',
  title: 'Run a command in a terminal of VS Code',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'run a command in a VS Code terminal',
  description:
    'Run a command where the user sees it, or type into the one that runs. Gives its newest output and exit code. After timeout_seconds it goes on: read_terminal.',
  maxResultChars: 2 * MAX_OUTPUT_BYTES,
  input,
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
    const outcome = await outcomeOf(args, await services.terminals(), callerOf(call));
    const leftOut = outcome.from - outcome.start;
    const note = noteOf(outcome, args);
    return { ...outcome, ...(leftOut > 0 && { leftOut }), ...(note !== '' && { note }) };
  },
});

function outcomeOf(
  args: Arguments,
  terminals: EditorTerminals,
  caller: EditorCaller,
): Promise<CommandOutcome> {
  const { command, text, keys, terminalId, path, maxBytes, raw } = args;
  const limits = { waitMs: args.timeoutSeconds * 1_000, maxBytes, raw };
  const typed = `${text ?? ''}${bytesOfKeys(keys ?? [], false).toString()}`;
  if (command !== undefined && typed === '')
    return terminals.execute({ command, terminalId, path, ...limits }, caller);
  if (command === undefined && typed !== '' && terminalId !== undefined)
    return terminals.type({ terminalId, text: typed, ...limits }, caller);
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    command === undefined
      ? 'There is neither a command, nor text or keys with the terminal_id of the terminal that gets them.'
      : 'A command cannot be combined with text and keys: they are for the one that runs.',
    'Give command alone, or terminal_id with text or keys.',
  );
}

function noteOf({ state, timedOut, exitCode, from, start }: CommandOutcome, { command }: Arguments): string {
  const notes = [
    state === 'running' &&
      command !== undefined &&
      'It has not ended yet and goes on. Call read_terminal with the cursor and wait_seconds.',
    timedOut && 'It ran for a day and was interrupted.',
    command !== undefined && state === 'ended' && exitCode === null && !timedOut && NO_EXIT_CODE,
    from > start && `Its output before the text: read_terminal with cursor ${start}.`,
  ];
  return notes.filter((note) => note !== false).join(' ');
}

export const readTerminal = defineTool({
  name: 'read_terminal',
  title: 'Read a terminal of VS Code',
  effect: 'read',
  description:
    'The newest output of a terminal; with cursor, from there on. wait_seconds waits for the end of what runs, or until max_bytes are there.',
  maxResultChars: 2 * MAX_OUTPUT_BYTES,
  input: {
    terminal_id: terminalIdInput,
    cursor: offsetInput.optional().describe('0, or as answered before'),
    wait_seconds: within(0, MAX_WAIT_SECONDS).default(0),
    ...outputInput,
  },
  output: {
    terminal_id: z.string(),
    state: z.enum(['idle', 'busy']),
    /** Of the last command that has ended. */
    exit_code: z.int().nullable(),
    from: z.int(),
    cursor: z.int(),
    /** There is more behind the cursor by now. */
    more: z.boolean(),
    /** Characters that VS Code does not keep any more. */
    missing: z.int().optional(),
    text: z.string(),
  },
  handle: async ({ waitSeconds, ...query }, { terminals }, call) => {
    const read = await (await terminals()).read({ ...query, waitMs: waitSeconds * 1_000 }, callerOf(call));
    return { ...read, ...(read.dropped > 0 && { missing: read.dropped }) };
  },
});
