import { isFinal } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { askOutput, askView, questionInput } from './ask-fields.js';

export const askAsync = defineTool({
  name: 'ask_async',
  title: 'Ask in the background',
  toolset: 'conversation',
  effect: 'destroy',
  openWorld: true,
  description: 'Ask Claude Code without waiting; ask_status returns the answer.',
  input: questionInput,
  output: askOutput,
  handle: async (question, { conversations }, { follower }) => {
    const record = await (await conversations()).ask(question);
    if (!isFinal(record.status)) follower?.follow(record.task_id);
    return askView(record);
  },
});
