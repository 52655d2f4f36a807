import { z } from 'zod';
import { defineTool } from '../define-tool.js';

export const setActiveProject = defineTool({
  name: 'set_active_project',
  title: 'Set the active project',
  toolset: 'project',
  effect: 'write',
  idempotent: true,
  description: 'Set the default working directory for subsequent operations.',
  input: { path: z.string() },
  output: { active_project: z.string(), message: z.string() },
  handle: async ({ path }, { activeProject }) => ({
    active_project: await activeProject.set(path),
    message: 'Active project set. Subsequent operations will use this path by default.',
  }),
});
