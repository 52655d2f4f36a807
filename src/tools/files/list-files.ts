import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { listInput, pageOutput } from './list-fields.js';

export const listFiles = defineTool({
  name: 'list_files',
  title: 'List files',
  toolset: 'files',
  effect: 'read',
  description: 'List files and directories, without ignored and hidden ones.',
  isExact: true,
  input: listInput,
  output: {
    path: z.string(),
    entries: z.array(
      z.object({
        name: z.string(),
        type: z.enum(['file', 'directory', 'symlink', 'other']),
        size: z.int().optional(),
        target: z.string().optional(),
        note: z.string().optional(),
      }),
    ),
    ...pageOutput,
  },
  handle: async ({ path, depth, cursor, max_bytes }, { explorer }, { signal }) => {
    const {
      path: listed,
      entries,
      ...facts
    } = await explorer.list({ path, depth, cursor, maxBytes: max_bytes }, signal);
    return { path: listed, entries, ...facts };
  },
});
