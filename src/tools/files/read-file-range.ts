import { z } from 'zod';
import { TEXT_PAGE_BYTES } from '../../mcp/output-budget.js';
import { readFitting, withinPage } from '../../mcp/output-budget.js';
import type { FileRange } from '../../files/read/read-range.js';
import { defineTool } from '../define-tool.js';

const MIN_CONTENT_BYTES = 256;
const MAX_CONTENT_BYTES = 262_144;

export const readFileRange = defineTool({
  name: 'read_file_range',
  title: 'Read lines of a file',
  toolset: 'files',
  effect: 'read',
  description:
    'Read lines of a text file of any size. If truncated, continue after end_line. Long lines are cut.',
  maxResultChars: MAX_CONTENT_BYTES,
  input: {
    path: z.string(),
    start_line: z.int().min(1).describe('From 1'),
    end_line: z.int().min(1).describe('Inclusive'),
    max_bytes: z.int().min(MIN_CONTENT_BYTES).max(MAX_CONTENT_BYTES).optional(),
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
  handle: async ({ path, start_line, end_line, max_bytes }, services, { signal, pageBytes }) => {
    const files = await services.files();
    const read = (maxBytes: number): Promise<FileRange> =>
      files.readRange({ path, startLine: start_line, endLine: end_line, maxBytes, signal });
    const text = ({ content }: FileRange): string => content;
    const range = await readFitting(
      { maxBytes: max_bytes ?? pageBytes ?? TEXT_PAGE_BYTES, minBytes: MIN_CONTENT_BYTES },
      read,
      text,
    );
    if (max_bytes !== undefined) return view(range);
    const limits = { pageBytes, minBytes: MIN_CONTENT_BYTES };
    return view(await withinPage(range, limits, read, { of: view, text }));
  },
});

function view(range: FileRange) {
  return {
    path: range.path,
    start_line: range.startLine,
    end_line: range.endLine,
    total_lines: range.totalLines,
    truncated: range.truncated,
    note: range.note,
    content: range.content,
  };
}
