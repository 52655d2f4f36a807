import { z } from 'zod';
import { REPLY_BUDGET_BYTES } from '../../mcp/output-budget.js';
import type { OutputOutcome } from '../../processes/process-service.js';
import { defineTool, offsetInput } from '../define-tool.js';
import { pidInput, stateOutput, stateView } from './process-fields.js';

const DEFAULT_LINES = 100;
const MAX_LINES = 10_000;
/** An answer holds its text twice, and none may reach 1 MB. */
const MAX_BYTES = 150_000;
const MAX_SEARCH_CHARS = 1_000;
const FOUND_BUDGET_CHARS = 16_000;

const streamOutput = z.object({
  bytes: z.int(),
  /** Removed by now, or refused by the disk. */
  missing_bytes: z.int().optional(),
});

export const stdout = defineTool({
  name: 'stdout',
  title: 'Read the output of a process',
  toolset: 'process',
  effect: 'read',
  description:
    'Output of a process, also after its end: the last lines; with cursor, from there on; lines that contain search; or the screen of a terminal.',
  maxResultChars: 2 * MAX_BYTES,
  input: {
    pid: pidInput,
    lines: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES),
    stream: z.enum(['stdout', 'stderr']).optional().describe('Default: stdout; a terminal has one'),
    cursor: offsetInput.optional().describe('Byte offset: 0, or as answered before'),
    search: z.string().min(1).max(MAX_SEARCH_CHARS).optional(),
    regex: z.boolean().default(false).describe('search is an RE2 expression'),
    screen: z.boolean().default(false),
    max_bytes: z
      .int()
      .min(100)
      .max(MAX_BYTES)
      .default(REPLY_BUDGET_BYTES / 2),
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
    found: z.array(z.object({ offset: z.int(), text: z.string() })).optional(),
  },
  handle: async (args, services, call) => {
    const processes = await services.processes();
    const outcome = await processes.output(
      {
        id: args.pid,
        stream: args.stream,
        lines: args.lines,
        cursor: args.cursor,
        maxBytes: args.max_bytes,
        search: args.search,
        isRegex: args.regex,
        screen: args.screen,
      },
      call.signal,
    );
    const { record, extents, text, search, screen, stream } = outcome;
    const end = extents[stream]?.end ?? 0;
    return {
      ...stateView(record),
      ...(text && { text: text.text, from: text.from, cursor: text.cursor, more: text.cursor < end }),
      ...(search && foundView(search)),
      ...(screen !== undefined && { screen }),
      streams: Object.fromEntries(
        Object.entries(extents).map(([name, { end: bytes, missingBytes }]) => [
          name,
          { bytes, ...(missingBytes > 0 && { missing_bytes: missingBytes }) },
        ]),
      ),
    };
  },
});

/** As many of the found lines as an answer holds; the next search goes on behind the last of them. */
function foundView({ found, cursor, isMore }: NonNullable<OutputOutcome['search']>) {
  let chars = 0;
  const count = found.findIndex(({ text }) => (chars += text.length) > FOUND_BUDGET_CHARS);
  const cut = count === -1 ? undefined : found[count];
  if (cut === undefined) return { found: [...found], cursor, more: isMore };
  return { found: found.slice(0, count), cursor: cut.offset, more: true };
}
