import { z } from 'zod';
import { fittingPage, TEXT_PAGE_BYTES } from '../../mcp/answers.js';
import type { ToolCall } from '../../mcp/tool.js';
import { defineTool, within } from '../define-tool.js';

const MIN_BYTES = 256;
/** Ordinary text of this size, twice, is just below what an answer may hold. */
const MAX_FILE_BYTES = 450_000;
const MAX_RANGE_BYTES = 262_144;

export const readFile = defineTool({
  name: 'read_file',
  title: 'Read a file',
  effect: 'read',
  description: 'Read a text file, page by page. Absolute path, or relative to the active project.',
  maxResultChars: MAX_FILE_BYTES,
  input: {
    path: z.string(),
    header: z.boolean().optional().describe('Only the first lines'),
    cursor: z.string().optional(),
    max_bytes: within(MIN_BYTES, MAX_FILE_BYTES).optional(),
  },
  output: {
    path: z.string(),
    lines: z.int().nullable().describe('null: not counted'),
    size_bytes: z.int(),
    encoding: z.string(),
    sha256: z.string().optional(),
    truncated: z.boolean(),
    cursor: z.string().optional(),
    note: z.string().optional(),
    content: z.string(),
  },
  handle: async (query, services, call) => {
    const files = await services.files();
    return pageOf(query.maxBytes, call, (maxBytes) => files.readFile({ ...query, maxBytes }));
  },
});

export const readFileRange = defineTool({
  name: 'read_file_range',
  title: 'Read lines of a file',
  effect: 'read',
  description:
    'Read lines of a text file of any size. If truncated, continue after end_line. Long lines are cut.',
  maxResultChars: MAX_RANGE_BYTES,
  input: {
    path: z.string(),
    start_line: z.int().min(1),
    end_line: z.int().min(1).describe('Inclusive'),
    max_bytes: within(MIN_BYTES, MAX_RANGE_BYTES).optional(),
  },
  output: {
    path: z.string(),
    start_line: z.int(),
    end_line: z.int(),
    total_lines: z.int().nullable().describe('null: not counted'),
    truncated: z.boolean(),
    note: z.string().optional(),
    content: z.string(),
  },
  handle: async (query, services, call) => {
    const files = await services.files();
    const { signal } = call;
    return pageOf(query.maxBytes, call, (maxBytes) => files.readRange({ ...query, maxBytes, signal }));
  },
});

/** The largest page that an answer holds; with `asked`, of so many bytes where it can be sent. */
function pageOf<Page extends { readonly content: string }>(
  asked: number | undefined,
  { pageBytes = TEXT_PAGE_BYTES }: ToolCall,
  read: (maxBytes: number) => Promise<Page>,
): Promise<Page> {
  return fittingPage({
    maxBytes: asked ?? pageBytes,
    minBytes: MIN_BYTES,
    read,
    text: ({ content }) => content,
    whole: asked === undefined ? { bytes: pageBytes, of: (page) => ({ ...page }) } : undefined,
  });
}
