import { z } from 'zod';
import { defineTool } from '../define-tool.js';

export const createDirectory = defineTool({
  name: 'create_directory',
  title: 'Create a directory',
  toolset: 'project',
  effect: 'write',
  idempotent: true,
  description: 'Create a directory and its parents.',
  input: { path: z.string() },
  output: { path: z.string(), created: z.boolean(), message: z.string() },
  handle: async ({ path }, services) => {
    const files = await services.files();
    const made = await files.createDirectory(path);
    return {
      ...made,
      message: made.created ? 'Directory created successfully.' : 'Directory already exists.',
    };
  },
});
