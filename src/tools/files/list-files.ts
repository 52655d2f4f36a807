// Pure.
import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { listInput, pageOutput, MAX_LIST_CHARS } from './list-fields.js';

export const listFiles = defineTool({
  name: 'list_files',
  title: 'List files',
  toolset: 'files',
  effect: 'read',
  description: 'List files and directories. What is hidden or ignored is left out, and named.',
  maxResultChars: MAX_LIST_CHARS,
  isExact: true,
  input: { ...listInput, names: z.boolean().optional().describe('Only names; folders end with /') },
  output: {
    path: z.string(),
    ...pageOutput,
    names: z.array(z.string()).optional(),
    entries: z
      .array(
        z.object({
          name: z.string(),
          type: z.enum(['file', 'directory', 'symlink', 'other']),
          size: z.int().optional(),
          target: z.string().optional(),
          note: z.string().optional(),
        }),
      )
      .optional(),
  },
  handle: async ({ names: namesOnly, max_bytes: maxBytes, ...query }, services, { signal }) => {
    const explorer = await services.explorer();
    if (namesOnly === true) {
      const { path, names, entries, ...facts } = await explorer.names({ ...query, maxBytes }, signal);
      return { path, ...facts, names, entries };
    }
    const { path, entries, ...facts } = await explorer.list({ ...query, maxBytes }, signal);
    return { path, ...facts, entries };
  },
});
