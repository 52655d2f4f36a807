import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { alikeNote } from './write-file.js';

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
    const { alike, ...made } = await files.createDirectory(path);
    const message = made.created
      ? `Directory created successfully.${alikeNote(alike)}`
      : 'Directory already exists.';
    return { ...made, message };
  },
});
