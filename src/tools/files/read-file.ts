import { z } from 'zod';
import { TEXT_PAGE_BYTES } from '../../mcp/output-budget.js';
import { readFitting, withinPage } from '../../mcp/output-budget.js';
import type { FilePage } from '../../files/read/read-page.js';
import { defineTool } from '../define-tool.js';

const MIN_CONTENT_BYTES = 256;
/** Ordinary text of this size, twice, is just below what an answer may hold. */
const MAX_CONTENT_BYTES = 450_000;

export const readFile = defineTool({
  name: 'read_file',
  title: 'Read a file',
  toolset: 'files',
  effect: 'read',
  description: 'Read a text file, page by page. Absolute path, or relative to the active project.',
  maxResultChars: MAX_CONTENT_BYTES,
  input: {
    path: z.string(),
    header: z.boolean().optional().describe('Only the first lines'),
    cursor: z.string().optional(),
    max_bytes: z.int().min(MIN_CONTENT_BYTES).max(MAX_CONTENT_BYTES).optional(),
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
  handle: async ({ path, header, cursor, max_bytes }, services, call) => {
    const files = await services.files();
    const read = (maxBytes: number): Promise<FilePage> => files.readFile({ path, header, cursor, maxBytes });
    const text = ({ content }: FilePage): string => content;
    const page = await readFitting(
      { maxBytes: max_bytes ?? call.pageBytes ?? TEXT_PAGE_BYTES, minBytes: MIN_CONTENT_BYTES },
      read,
      text,
    );
    if (max_bytes !== undefined) return view(page);
    const limits = { pageBytes: call.pageBytes, minBytes: MIN_CONTENT_BYTES };
    return view(await withinPage(page, limits, read, { of: view, text }));
  },
});

function view(page: FilePage) {
  return {
    path: page.path,
    lines: page.lines,
    size_bytes: page.sizeBytes,
    encoding: page.encoding,
    sha256: page.sha256,
    truncated: page.truncated,
    cursor: page.cursor,
    note: page.note,
    content: page.content,
  };
}
