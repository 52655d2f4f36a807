import { offeredNames, wholeRequest, type BridgePrompt } from './define-prompt.js';
import { recentProjects } from './meant-task.js';

const PATH = /^(?:\/|~|\.{1,2}\/)/;

export const delegate: BridgePrompt = {
  name: 'delegate',
  title: 'Delegate to Claude Code',
  description: 'Hand a piece of work to Claude Code in a project, follow it, and check what came of it.',
  arguments: [
    { name: 'request', description: 'What to do', required: true },
    {
      name: 'path',
      description: 'Project directory; default: the one in this conversation',
      required: false,
    },
  ],
  complete: { path: recentProjects },
  text: async ({ request = '', path }, services) => {
    const looks = offeredNames(['git_status', 'search_files', 'read_file'], ', ', services);
    const changes = services.offers('get_task_diff') ? ' and get_task_diff' : '';
    const asked = wholeRequest(request, path, (text) => PATH.test(text));
    return `Hand this piece of work to Claude Code:

${asked.request}

${
  asked.argument === undefined
    ? 'The project is the one that we talk about; ask me when it is not clear which.'
    : `The project is ${asked.argument}.`
}

1. Look around first, as far as it helps to say precisely what is wanted${looks === undefined ? '' : `: ${looks}`}.
2. Call start_task. Claude Code sees nothing of our conversation, so its prompt alone must say what to do, where, what must stay as it is, and how to prove that it works. If another task has the project, on_conflict "worktree" works beside it and "queue" after it.
3. Call wait_for_task until the task has ended, each time with the cursor of the answer before. When it asks something, answer with respond_to_task what follows from my request; ask me about the rest, and about everything that cannot be undone.
4. When it has ended, read get_task_result${changes}. If it worked in a worktree, show me the outcome before you call finish_task.
5. Tell me what was done, what was tested with which result, and what is open. Say which claims nothing in the receipt supports.`;
  },
};
