import { z } from 'zod';
import { defineTool } from '../define-tool.js';

/** Claude Code fills in a hook's fields as text; a field that an event does not have is empty. */
const text = z.string().default('');

/** What a hook of a session reports that a person started. */
export const nativeEvent = defineTool({
  name: 'native_event',
  title: 'An event of this session',
  effect: 'write',
  caller: 'hooks',
  description: 'What happened in this session.',
  input: {
    event: z.string(),
    session: text,
    cwd: text,
    tool: text,
    tool_input: text,
    prompt: text,
    message: text,
    error: text,
    active: text,
  },
  output: {
    hookSpecificOutput: z.looseObject({}).optional(),
    decision: z.literal('block').optional(),
    reason: z.string().optional(),
  },
  handle: async ({ toolInput, ...fields }, { native }, { signal }) =>
    (await native()).event({ ...fields, tool_input: toolInput }, signal),
});
