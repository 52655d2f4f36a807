import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { listInput } from './list-fields.js';

const MAX_CONTEXT_LINES = 10;

export const searchFiles = defineTool({
  name: 'search_files',
  title: 'Search files',
  toolset: 'files',
  effect: 'read',
  description: 'Find lines (with names: paths) that contain a text or match a regular expression (RE2).',
  isExact: true,
  input: {
    query: z.string(),
    path: listInput.path,
    regex: z.boolean().optional(),
    names: z.boolean().optional().describe('Search paths instead of contents'),
    glob: z.string().optional().describe('Only these files, e.g. *.{ts,js}'),
    context: z.int().min(0).max(MAX_CONTEXT_LINES).optional(),
    cursor: listInput.cursor,
    max_bytes: listInput.max_bytes,
  },
  output: {
    path: z.string(),
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
    note: z.string().optional(),
    cursor: z.string().optional(),
  },
  handle: async ({ max_bytes, ...query }, { explorer }, { signal }) =>
    (await explorer()).search({ ...query, maxBytes: max_bytes }, signal),
});
