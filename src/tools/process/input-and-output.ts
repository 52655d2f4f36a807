import { z } from 'zod';
import { made } from '../../mcp/tool.js';
import type { InputOutcome, OutputOutcome } from '../../processes/process-service.js';
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
import { pidInput, shownOutput, sizeInput, stateOutput, stateView } from './process-fields.js';

/** Of `wait_for` and `search`. */
const MAX_PATTERN_CHARS = 1_000;
/** The least that a terminal in line mode takes of a line on the systems of the bridge. */
const MAX_LINE_BYTES = 1_024;

export const stdin = defineTool({
  name: 'stdin',
  title: 'Give a process input',
  effect: 'destroy',
  openWorld: true,
  description:
    'Send text, then keys, then the end of input. Returns the new output once it pauses or wait_for matches.',
  input: {
    pid: pidInput,
    text: z.string().max(1_000_000).optional().describe('As it is; end a line with \\n'),
    keys: keysInput.describe('Terminals only: ctrl-c, esc, enter, tab, up, f1, page-down, alt-x …'),
    eof: z.boolean().default(false).describe('Close the input; a terminal needs the key ctrl-d instead'),
    wait_for: z.string().max(MAX_PATTERN_CHARS).optional().describe('RE2 expression in the new output'),
    timeout_seconds: within(0, MAX_WAIT_SECONDS).default(5),
    resize: sizeInput.optional(),
  },
  output: { ...stateOutput, ...shownOutput, note: z.string().optional() },
  handle: async ({ pid: id, resize: size, timeoutSeconds: seconds, ...given }, services, { signal }) => {
    const processes = await services.processes();
    const query = { id, size, limitMs: seconds * 1_000, ...given };
    const { record, outcome, ...shown } = await processes.input(query, signal);
    const notes = [
      ...lineNote(record.tty !== null, given.text),
      ...waitNote(outcome, given.waitFor !== undefined, seconds),
    ];
    return { ...stateView(record), ...shown, ...(notes.length > 0 && { note: notes.join(' ') }) };
  },
});

function waitNote(outcome: InputOutcome['outcome'], hasPattern: boolean, seconds: number): readonly string[] {
  if (hasPattern && outcome === 'ended') return ['It ended, and its output did not match wait_for.'];
  if (hasPattern && outcome === 'limit') return [`Nothing matched wait_for within ${seconds} s.`];
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

const FOUND_BUDGET_CHARS = 16_000;

const streamOutput = z.object({
  bytes: z.int(),
  /** Removed by now, or refused by the disk. */
  missing_bytes: z.int().optional(),
});

export const stdout = defineTool({
  name: 'stdout',
  title: 'Read the output of a process',
  effect: 'read',
  description:
    'Output of a process, also after its end: the last lines; with cursor, from there on; lines that contain search; or the screen of a terminal.',
  maxResultChars: 2 * MAX_OUTPUT_BYTES,
  input: {
    pid: pidInput,
    lines: within(1, 10_000).default(100),
    stream: z.enum(['stdout', 'stderr']).optional().describe('Default: stdout; a terminal has one'),
    cursor: offsetInput.optional().describe('Byte offset: 0, or as answered before'),
    search: someText(MAX_PATTERN_CHARS).optional(),
    regex: z.boolean().default(false).describe('search is an RE2 expression'),
    screen: z.boolean().default(false),
    max_bytes: outputBytesInput,
  },
  output: {
    ...stateOutput,
    /** Offset of the first byte of the text. */
    from: z.int().optional(),
    cursor: z.int().optional(),
    /** There is more behind the cursor by now. */
    more: z.boolean().optional(),
    streams: z.record(z.string(), streamOutput),
    text: z.string().optional(),
    screen: z.string().optional(),
    found: z.array(made<Found['found'][number]>()).optional(),
  },
  handle: async ({ pid: id, regex: isRegex, ...given }, services, { signal }) => {
    const processes = await services.processes();
    const outcome = await processes.output({ id, isRegex, ...given }, signal);
    const { record, extents, text, search, screen, stream } = outcome;
    const end = extents[stream]?.end ?? 0;
    const streams = Object.entries(extents).map(([name, { end: bytes, missingBytes }]) => {
      return [name, { bytes, ...(missingBytes > 0 && { missing_bytes: missingBytes }) }] as const;
    });
    return {
      ...stateView(record),
      ...(text && { ...text, more: text.cursor < end }),
      ...(search && foundView(search)),
      ...(screen !== undefined && { screen }),
      streams: Object.fromEntries(streams),
    };
  },
});

type Found = NonNullable<OutputOutcome['search']>;

/** As many of the found lines as an answer holds; the next search goes on behind the last of them. */
function foundView({ found, cursor, isMore }: Found) {
  let chars = 0;
  const count = found.findIndex(({ text }) => (chars += text.length) > FOUND_BUDGET_CHARS);
  const cut = count === -1 ? undefined : found[count];
  if (cut === undefined) return { found, cursor, more: isMore };
  return { found: found.slice(0, count), cursor: cut.offset, more: true };
}
