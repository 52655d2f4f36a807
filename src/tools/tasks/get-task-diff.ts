import { z } from 'zod';
import { readFitting } from '../../mcp/output-budget.js';
import { defineTool } from '../define-tool.js';
import { MAX_PATCH_CHARS, messageText, pageOf } from '../git/git-fields.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { taskIdInput } from './task-fields.js';

const MIN_PAGE_BYTES = 1_024;

export const getTaskDiff = defineTool({
  name: 'get_task_diff',
  title: 'Get task diff',
  toolset: 'tasks',
  effect: 'read',
  searchHint: 'what a delegated task changed',
  description: 'Patch of all that a task changed, committed or not, in pages.',
  maxResultChars: MAX_PATCH_CHARS,
  input: { task_id: taskIdInput, cursor: z.string().optional() },
  output: {
    files: z.int(),
    omitted: z.array(z.string()),
    cursor: z.string().optional(),
    message: z.string(),
    diff: z.string(),
  },
  handle: async ({ task_id, cursor }, services, { signal, pageBytes }) => {
    const tasks = await services.tasks();
    const patch = await (await services.changes()).patchOf(await tasks.get(knownTaskId(task_id)));
    if (patch.state === 'nothing') return { files: 0, omitted: [], message: patch.why, diff: '' };
    const git = await services.git();
    const page = await readFitting<Awaited<ReturnType<typeof git.filesDiff>>, number | undefined>(
      { maxBytes: pageBytes, minBytes: MIN_PAGE_BYTES },
      (maxBytes, larger) => git.filesDiff(patch.query, pageOf(larger?.here ?? cursor, maxBytes), signal),
      ({ text }) => text,
    );
    const { leftOutBytes } = page;
    const rest =
      page.cursor !== undefined
        ? 'Pass cursor for the next page, with the files of omitted.'
        : leftOutBytes > 0
          ? `The last page: the last ${leftOutBytes} bytes are left out.`
          : 'This is all.';
    return {
      files: page.files,
      omitted: page.omitted.map(({ file }) => file),
      cursor: page.cursor,
      message: messageText([rest, ...patch.notes].join(' '), page.escaped),
      diff: page.text,
    };
  },
});
