import type { TaskRecord } from '../tasks/task.js';
import { offeredNames, wholeRequest, type BridgePrompt, type PromptServices } from './define-prompt.js';
import {
  ANY_TASK,
  factsOf,
  fittingIds,
  hasEnded,
  meantTask,
  openWorktree,
  pathArgument,
  projectOf,
} from './meant-task.js';

const ID = /^(?:task|response)_/;
/** The id of an answer in a conversation. `ask` reports whether it exists. */
const RESPONSE_ID_PATTERN = /^response_[0-9a-f]{20}$/;

export const continueWork: BridgePrompt = {
  name: 'continue',
  title: 'Continue a task or conversation',
  description: 'Go on where a task or a conversation with Claude Code ended.',
  arguments: [
    { name: 'request', description: 'What to do next', required: true },
    { name: 'id', description: 'A task_id or a responseId; default: the newest task', required: false },
  ],
  complete: { id: (prefix, services) => fittingIds(prefix, ANY_TASK, services) },
  text: async ({ request = '', id }, services) => {
    const asked = wholeRequest(request, id?.trim(), (text) => ID.test(text));
    const wanted = asked.request;
    const responseId = asked.argument ?? '';
    if (RESPONSE_ID_PATTERN.test(responseId)) return conversationText(responseId, wanted, services);
    const record = await meantTask(asked.argument, ANY_TASK, services);
    const shown = offeredNames(['get_task_result', 'get_task_diff'], ' and ', services) ?? 'its state';
    return `Go on with the work of this task:

${factsOf(record)}

What is to be done next:

${wanted}

${hasEnded(record) ? endedText(record, shown) : liveText(record)}

Then follow it with wait_for_task, passing its cursor back each time, answer what it asks as far as it follows from my request, and when it has ended check ${shown} before you tell me what was done and what is open.`;
  },
};

function conversationText(responseId: string, wanted: string, { offers }: PromptServices): string {
  if (!offers('ask'))
    return `I want to go on with the conversation with Claude Code after the answer ${responseId}. Tell me that this server does not offer conversations, and that its setting toolsets has to name conversation.`;
  return `Go on with the conversation with Claude Code after the answer ${responseId}:

${wanted}

Call ask with previousResponseId "${responseId}"; Claude Code remembers that conversation up to this answer and no further. When it turns into a task, ask_status gives the answer. Give me the answer and its responseId.`;
}

function liveText(record: TaskRecord): string {
  return `The task is still alive. Answer what it asks with respond_to_task; then send the request with message_task, task_id ${record.task_id}, which Claude Code reads when its turn is over. If the request makes pointless what it does now, set interrupt.`;
}

function endedText(record: TaskRecord, shown: string): string {
  const open = openWorktree(record);
  const isGone = record.worktree !== undefined && open === undefined;
  const path = isGone ? projectOf(record) : record.project_path;
  const resumes = !isGone && record.session_id !== null;
  return [
    `The task has ended. Read ${shown} to know how things stand.`,
    `Then call start_task with ${pathArgument(record, path)}.`,
    ...(open === undefined
      ? []
      : [`That is its worktree, which contains the work; finish_task of ${record.task_id} finishes both.`]),
    resumes
      ? `Give it continue_from ${record.task_id}: the session knows all that was said, and its prompt only needs to say what is to be done now, and how to prove it.`
      : 'The session remembers nothing: its prompt must say what was done, what was found, what is to be done now, and how to prove it.',
  ].join(' ');
}
