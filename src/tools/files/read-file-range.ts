import { z } from 'zod';
import { REPLY_BUDGET_BYTES } from '../../mcp/output-budget.js';
import type { ToolCall } from '../../mcp/tool.js';
import { defineTool } from '../define-tool.js';
import type { FileTools } from '../services.js';

const MIN_CONTENT_BYTES = 256;
const MAX_CONTENT_BYTES = 262_144;

export const readFileRange = defineTool({
  name: 'read_file_range',
  title: 'Read lines of a file',
  toolset: 'files',
  effect: 'read',
  description:
    'Read specific lines of a text file of any size. truncated: go on after end_line. Long lines are cut.',
  maxResultChars: MAX_CONTENT_BYTES,
  input: {
    path: z.string().describe('File path'),
    start_line: z.int().min(1).describe('Starting line number (1-indexed)'),
    end_line: z.int().min(1).describe('Ending line number (inclusive)'),
    max_bytes: z
      .int()
      .min(MIN_CONTENT_BYTES)
      .max(MAX_CONTENT_BYTES)
      .optional()
      .describe(`Default: ${REPLY_BUDGET_BYTES}`),
  },
  output: {
    path: z.string(),
    start_line: z.int(),
    end_line: z.int(),
    total_lines: z.int().nullable().describe('null: not counted'),
    truncated: z.boolean(),
    content: z.string(),
  },
  handle: async ({ path, start_line, end_line, max_bytes }, { files }, call) => {
    const range = await fittingRange(files, call, {
      path,
      startLine: start_line,
      endLine: end_line,
      maxBytes: max_bytes ?? REPLY_BUDGET_BYTES,
      signal: call.signal,
    });
    return {
      path: range.path,
      start_line: range.startLine,
      end_line: range.endLine,
      total_lines: range.totalLines,
      truncated: range.truncated,
      content: range.content,
    };
  },
});

/** Text that grows when it is escaped is read again in a smaller part, so that no answer outgrows the limit. */
async function fittingRange(
  files: FileTools,
  call: ToolCall,
  query: Parameters<FileTools['readRange']>[0],
): ReturnType<FileTools['readRange']> {
  const range = await files.readRange(query);
  if (call.fits(range.content) || query.maxBytes <= MIN_CONTENT_BYTES) return range;
  return fittingRange(files, call, {
    ...query,
    maxBytes: Math.max(MIN_CONTENT_BYTES, Math.floor(query.maxBytes / 2)),
  });
}
