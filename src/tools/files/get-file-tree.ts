import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { listInput, pageOutput } from './list-fields.js';

export const getFileTree = defineTool({
  name: 'get_file_tree',
  title: 'Get the file tree',
  toolset: 'files',
  effect: 'read',
  description: 'Draw a directory tree, without ignored and hidden entries.',
  input: listInput,
  output: { path: z.string(), tree: z.string(), ...pageOutput },
  handle: async ({ path, depth, cursor, max_bytes }, { explorer }, { signal }) =>
    (await explorer()).tree({ path, depth, cursor, maxBytes: max_bytes }, signal),
});
