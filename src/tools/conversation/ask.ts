import { defineTool } from '../define-tool.js';
import { askOutput, askView, mustHaveAnswer, questionInput } from './ask-fields.js';

/** Clients cut calls at 60 s; progress does not extend that. */
const MAX_WAIT_MS = 45_000;

export const ask = defineTool({
  name: 'ask',
  title: 'Ask Claude Code',
  toolset: 'conversation',
  effect: 'destroy',
  openWorld: true,
  description:
    'Ask Claude Code and get its answer with a responseId to continue from. After 45 s it goes on as ask_async does, and says so.',
  input: questionInput,
  output: askOutput,
  handle: async (question, { conversations }, call) => {
    const startMs = performance.now();
    const { task_id } = await conversations.ask(question);
    const record = await conversations.answer(task_id, {
      timeoutMs: Math.max(0, MAX_WAIT_MS - (performance.now() - startMs)),
      signal: call.signal,
      onProgress: (text) => call.progress(text),
    });
    return askView(mustHaveAnswer(record));
  },
});
