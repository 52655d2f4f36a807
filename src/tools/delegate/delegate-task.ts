import { z } from 'zod';
import { MAX_DELEGATED_CHARS } from '../../tasks/delegation.js';
import { defineTool } from '../define-tool.js';
import { delegatedOutput, delegatedView } from './delegate-fields.js';

export const delegateTask = defineTool({
  name: 'DelegateTask',
  title: 'Delegate a task',
  toolset: 'delegate',
  effect: 'destroy',
  openWorld: true,
  description: 'Delegate a task to a background Claude Code instance.',
  input: {
    prompt: z.string().min(1).max(MAX_DELEGATED_CHARS).describe('The task for Claude Code to execute'),
    path: z.string().optional().describe('Project; default: the active one'),
  },
  output: delegatedOutput,
  handle: async ({ prompt, path }, { delegation }) =>
    delegatedView(await (await delegation()).delegate(prompt, path)),
});
