// Pure.
import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { listInput, MAX_LIST_CHARS } from './list-fields.js';

const MAX_CONTEXT_LINES = 10;

export const searchFiles = defineTool({
  name: 'search_files',
  title: 'Search files',
  toolset: 'files',
  effect: 'read',
  description:
    'Find lines (with names: paths) that contain a text or match a ripgrep regex. Not in ignored, binary and large files.',
  maxResultChars: MAX_LIST_CHARS,
  isExact: true,
  input: {
    query: z.string(),
    path: listInput.path,
    regex: z.boolean().optional(),
    names: z.boolean().optional(),
    glob: z.string().optional().describe('e.g. *.{ts,js}'),
    context: z.int().min(0).max(MAX_CONTEXT_LINES).optional(),
    cursor: listInput.cursor,
    max_bytes: listInput.max_bytes,
    ignored: z.boolean().optional().describe('Also ignored ones'),
  },
  output: {
    path: z.string(),
    note: z.string().optional(),
    cursor: z.string().optional(),
    matches: z.array(
      z.object({
        path: z.string(),
        line: z.int().optional(),
        column: z.int().optional(),
        text: z.string().optional(),
        before: z.array(z.string()).optional(),
        after: z.array(z.string()).optional(),
      }),
    ),
  },
  handle: async ({ max_bytes: maxBytes, ...query }, { explorer }, { signal }) => {
    const { path, matches, ...facts } = await (await explorer()).search({ ...query, maxBytes }, signal);
    return { path, ...facts, matches };
  },
});
