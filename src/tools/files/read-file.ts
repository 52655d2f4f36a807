import { z } from 'zod';
import { REPLY_BUDGET_BYTES } from '../../mcp/output-budget.js';
import type { ToolCall } from '../../mcp/tool.js';
import { defineTool } from '../define-tool.js';
import type { FileTools } from '../services.js';

const MIN_CONTENT_BYTES = 256;
/** Ordinary text of this size, twice, is just below what an answer may hold. */
const MAX_CONTENT_BYTES = 450_000;
/** A page that grows when it is escaped is tried again in this part of its size. */
const SMALLER = 0.7;

export const readFile = defineTool({
  name: 'read_file',
  title: 'Read a file',
  toolset: 'files',
  effect: 'read',
  description: 'Read a text file, page by page. Absolute path, or relative to the active project.',
  maxResultChars: MAX_CONTENT_BYTES,
  input: {
    path: z.string().describe('File path'),
    header: z.boolean().optional().describe('Only the first lines'),
    cursor: z.string().optional(),
    max_bytes: z
      .int()
      .min(MIN_CONTENT_BYTES)
      .max(MAX_CONTENT_BYTES)
      .optional()
      .describe(`Default: ${REPLY_BUDGET_BYTES}`),
  },
  output: {
    path: z.string(),
    content: z.string(),
    lines: z.int().optional(),
    size_bytes: z.int(),
    encoding: z.string(),
    sha256: z.string().optional(),
    truncated: z.boolean(),
    cursor: z.string().optional(),
    note: z.string().optional(),
  },
  handle: async ({ path, header, cursor, max_bytes }, { files }, call) => {
    const page = await fittingPage(files, call, {
      path,
      header,
      cursor,
      maxBytes: max_bytes ?? REPLY_BUDGET_BYTES,
    });
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
  },
});

/** Text that grows when it is escaped is read again in a smaller part, so that no answer outgrows the limit. */
async function fittingPage(
  files: FileTools,
  call: ToolCall,
  query: Parameters<FileTools['readFile']>[0],
): ReturnType<FileTools['readFile']> {
  const page = await files.readFile(query);
  if (call.fits(page.content, page.isAscii) || query.maxBytes <= MIN_CONTENT_BYTES) return page;
  return fittingPage(files, call, {
    ...query,
    maxBytes: Math.max(MIN_CONTENT_BYTES, Math.floor(query.maxBytes * SMALLER)),
  });
}
