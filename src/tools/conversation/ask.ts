import { isFinal } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { askedTask } from '../tasks/ask-person.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { answerOrPerson } from './answer-or-person.js';
import { askOutput, askView, mustHaveAnswer, questionInput } from './ask-fields.js';

/** Clients cut calls at 60 s; progress does not extend that. */
const MAX_WAIT_MS = 45_000;

export const ask = defineTool({
  name: 'ask',
  title: 'Ask Claude Code',
  toolset: 'conversation',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'ask Claude Code a question in a project',
  description:
    'Ask Claude Code; returns its answer and a responseId to continue from. After 45 s it goes on like ask_async, and says so.',
  input: questionInput,
  output: askOutput,
  handle: async (question, services, call) => {
    const startMs = performance.now();
    // The call comes a second time with what a person answered: that question goes on.
    const earlier = askedTask(call.person);
    const conversations = await services.conversations();
    const asked =
      earlier === undefined
        ? await conversations.ask(question)
        : await conversations.status(knownTaskId(earlier));
    if (call.follower !== undefined && !isFinal(asked.status)) {
      call.follower.follow(asked.task_id);
      return askView(asked);
    }
    const leftMs = Math.max(0, MAX_WAIT_MS - (performance.now() - startMs));
    return askView(mustHaveAnswer(await answerOrPerson(asked.task_id, leftMs, services, call)));
  },
});
