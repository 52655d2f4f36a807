import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { listInput, pageOutput, MAX_LIST_CHARS } from './list-fields.js';

export const getFileTree = defineTool({
  name: 'get_file_tree',
  title: 'Get the file tree',
  toolset: 'files',
  effect: 'read',
  description: 'Draw a directory tree of what list_files lists.',
  maxResultChars: MAX_LIST_CHARS,
  input: listInput,
  output: { path: z.string(), ...pageOutput, tree: z.string() },
  handle: async ({ max_bytes: maxBytes, ...query }, { explorer }, { signal }) =>
    (await explorer()).tree({ ...query, maxBytes }, signal),
});
