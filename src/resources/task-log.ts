import { fittingPage } from '../mcp/output-budget.js';
import { checkTask, defineResource, taskIdOf, watchTask } from './define-resource.js';

/** As much as a log may grow to before its escaped form could reach the limit of a message; read in steps of half. */
const MAX_LOG_BYTES = 800_000;
const MIN_LOG_BYTES = 1_024;
/** What a client's menu shows without scrolling for long. */
const LISTED_LOGS = 20;

export const taskLog = defineResource({
  name: 'logs',
  title: 'Log of a task',
  description: 'The full log of a task as readable text',
  mimeType: 'text/plain',
  uri: 'logs://{task_id}',
  read: async (variable, services) => {
    const taskId = taskIdOf(variable);
    const tasks = await services.tasks();
    const page = await fittingPage({
      maxBytes: MAX_LOG_BYTES,
      minBytes: MIN_LOG_BYTES,
      read: (maxBytes) => tasks.output({ taskId, view: 'log', maxBytes }),
      text: ({ text }) => text,
    });
    const bytes = Buffer.byteLength(page.text);
    const left = (page.totalBytes ?? bytes) - bytes;
    if (left <= 0) return page.text;
    return `[The first ${left} bytes are left out. get_task_output with task_id ${taskId}, view log and cursor 0 reads from the beginning.]\n${page.text}`;
  },
  list: async ({ tasks }) => {
    const { tasks: newest } = await (await tasks()).list({ limit: LISTED_LOGS });
    return newest.map((record) => ({ variable: record.task_id, title: `Log of ${record.prompt_summary}` }));
  },
  complete: async (prefix, { tasks }) => (await tasks()).taskIds(prefix),
  check: checkTask,
  watch: watchTask,
});
