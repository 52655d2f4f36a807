import { z } from 'zod';
import { defineTool, offsetInput } from '../define-tool.js';
import {
  callerOf,
  MAX_OUTPUT_BYTES,
  MAX_WAIT_SECONDS,
  outputInput,
  terminalIdInput,
} from './terminal-fields.js';

export const readTerminal = defineTool({
  name: 'read_terminal',
  title: 'Read a terminal of VS Code',
  toolset: 'terminal',
  effect: 'read',
  description:
    'The newest output of a terminal; with cursor, from there on. wait_seconds waits for the end of what runs, or until max_bytes are there.',
  maxResultChars: 2 * MAX_OUTPUT_BYTES,
  input: {
    terminal_id: terminalIdInput,
    cursor: offsetInput.optional().describe('0, or as answered before'),
    wait_seconds: z.int().min(0).max(MAX_WAIT_SECONDS).default(0),
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
  handle: async (args, services, call) => {
    const terminals = await services.terminals();
    const read = await terminals.read(
      {
        terminalId: args.terminal_id,
        cursor: args.cursor,
        waitMs: args.wait_seconds * 1_000,
        maxBytes: args.max_bytes,
        raw: args.raw,
      },
      callerOf(call),
    );
    return {
      terminal_id: read.terminalId,
      state: read.state,
      exit_code: read.exitCode,
      from: read.from,
      cursor: read.cursor,
      more: read.more,
      ...(read.dropped > 0 && { missing: read.dropped }),
      text: read.text,
    };
  },
});
