import { z } from 'zod';
import type { InputOutcome } from '../../processes/process-service.js';
import { defineTool } from '../define-tool.js';
import { pidInput, shownOutput, stateOutput, stateView } from './process-fields.js';

const DEFAULT_WAIT_SECONDS = 5;
const MAX_WAIT_SECONDS = 45;
const MAX_TEXT_CHARS = 1_000_000;
const MAX_KEYS = 200;
const MAX_KEY_CHARS = 30;
const MAX_PATTERN_CHARS = 1_000;
const MAX_COLUMNS = 500;
const MAX_ROWS = 200;
/** The least that a terminal in line mode takes of a line on the systems of the bridge. */
const MAX_LINE_BYTES = 1_024;

export const stdin = defineTool({
  name: 'stdin',
  title: 'Give a process input',
  toolset: 'process',
  effect: 'destroy',
  openWorld: true,
  description:
    'Send text, then keys, then the end of input. Returns the new output once it pauses or wait_for matches.',
  input: {
    pid: pidInput,
    text: z.string().max(MAX_TEXT_CHARS).optional().describe('As it is; end a line with \\n'),
    keys: z
      .array(z.string().max(MAX_KEY_CHARS))
      .max(MAX_KEYS)
      .optional()
      .describe('Terminals only: ctrl-c, esc, enter, tab, up, f1, page-down, alt-x …'),
    eof: z.boolean().default(false).describe('Close the input; a terminal needs the key ctrl-d instead'),
    wait_for: z.string().max(MAX_PATTERN_CHARS).optional().describe('RE2 expression in the new output'),
    timeout_seconds: z.int().min(0).max(MAX_WAIT_SECONDS).default(DEFAULT_WAIT_SECONDS),
    resize: z
      .strictObject({ columns: z.int().min(1).max(MAX_COLUMNS), rows: z.int().min(1).max(MAX_ROWS) })
      .optional(),
  },
  output: { ...stateOutput, ...shownOutput, note: z.string().optional() },
  handle: async (args, services, call) => {
    const processes = await services.processes();
    const outcome = await processes.input(
      {
        id: args.pid,
        text: args.text,
        keys: args.keys,
        eof: args.eof,
        size: args.resize,
        waitFor: args.wait_for,
        limitMs: args.timeout_seconds * 1_000,
      },
      call.signal,
    );
    const { record, outcome: reason, ...shown } = outcome;
    const notes = [...lineNote(record.tty !== null, args.text), ...noteOf(reason, args)];
    return { ...stateView(record), ...shown, ...(notes.length > 0 && { note: notes.join(' ') }) };
  },
});

function noteOf(
  outcome: InputOutcome['outcome'],
  { wait_for: pattern, timeout_seconds: seconds }: { wait_for?: string | undefined; timeout_seconds: number },
): readonly string[] {
  if (pattern !== undefined && outcome === 'ended')
    return ['It ended, and its output did not match wait_for.'];
  if (pattern !== undefined && outcome === 'limit') return [`Nothing matched wait_for within ${seconds} s.`];
  if (outcome === 'limit' && seconds > 0)
    return [`Its output did not start or did not pause within ${seconds} s.`];
  return [];
}

/** What a terminal does with a long line, while its program leaves the reading of lines to it. */
function lineNote(hasTerminal: boolean, text = ''): readonly string[] {
  const bytes = Math.max(...text.split(/[\r\n]/).map((line) => Buffer.byteLength(line)));
  if (!hasTerminal || bytes < MAX_LINE_BYTES) return [];
  return [
    `The text has a line of ${bytes} bytes. A terminal in line mode drops what is over 4095 bytes on Linux, and over 1024 on macOS: to a program that reads lines, send shorter ones, or start it without tty.`,
  ];
}
