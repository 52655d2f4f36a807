import { z } from 'zod';
import { textPage } from '../../base/input.js';
import { REPLY_BUDGET_BYTES } from '../../mcp/output-budget.js';
import { pollingHint, undoneWords } from '../../tasks/polling-hint.js';
import { isUndoable, treeOf, type Receipt } from '../../tasks/receipt/receipt.js';
import { receiptView } from '../../tasks/receipt/receipt.js';
import { defineTool } from '../define-tool.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { statusOutput, taskIdInput, taskIdOutput, taskView } from './task-fields.js';

/** Task, status, hint and the names around the receipt. */
const FRAME_BYTES = 1_024;
/** Of a final message, in one reply. */
const MESSAGE_BYTES = 12_000;
const WORKTREE_WORDS =
  ' The work is in a worktree: once its changes were reviewed (get_task_diff), finish_task merges or applies what reviewed names.';
const UNDO_WORDS = ' finish_task with action undo takes back all that changed in the folder.';

export const getTaskResult = defineTool({
  name: 'get_task_result',
  title: 'Get task result',
  toolset: 'tasks',
  effect: 'read',
  searchHint: 'result, receipt, changes and tests of a delegated task',
  alwaysLoad: true,
  description:
    'Receipt of a finished task: final message, commands with exit codes, files, commits, decisions, cost.',
  input: {
    task_id: taskIdInput,
    cursor: z.string().optional(),
  },
  output: {
    task_id: taskIdOutput,
    status: statusOutput,
    decisions: z.array(z.unknown()),
    receipt: z.record(z.string(), z.unknown()).nullable(),
    left_out: z.record(z.string(), z.int()),
    cursor: z.string().optional(),
    reviewed: z.string().optional(),
    hint: z.string(),
  },
  handle: async ({ task_id, cursor }, services, { signal }) => {
    const tasks = await services.tasks();
    const receipts = await services.receipts();
    const record = await tasks.get(knownTaskId(task_id));
    const whole = await receipts.receiptOf(record, signal);
    if (whole === undefined) {
      const hint = `The task has not ended: there is no receipt yet. ${pollingHint(record)}`;
      return { ...taskView(record), receipt: null, left_out: {}, hint };
    }
    if (cursor !== undefined) {
      const { text, ...rest } = textPage(whole.final_message, cursor, MESSAGE_BYTES);
      return { ...taskView(record), receipt: { final_message: text }, left_out: {}, ...rest, hint: '' };
    }
    const { receipt, left_out } = receiptView(whole, REPLY_BUDGET_BYTES - FRAME_BYTES);
    const isCut = Object.keys(left_out).length > 0;
    const shown = receipt.final_message.length;
    const tree = treeOf(whole);
    const isUndo = isUndoable(record, whole);
    const ends = isUndo
      ? UNDO_WORDS
      : record.worktree !== undefined && tree !== undefined
        ? WORKTREE_WORDS
        : '';
    return {
      ...taskView(record),
      receipt,
      left_out,
      ...(shown < whole.final_message.length && { cursor: String(shown) }),
      ...(ends !== '' && { reviewed: tree }),
      hint: `${isCut ? `The complete receipt is in the resource tasks://${record.task_id}; cursor gives the rest of the final message.` : whole.git.state === 'unknown' ? 'This is all of the receipt except what git says, which is not known.' : 'This is the complete receipt.'}${doubts(whole)}${ends}${undoneWords(record)}`,
    };
  },
});

/** What speaks against a good end, in words; empty where nothing does. */
function doubts({ commands_failed: count }: Receipt): string {
  return count === 0 ? '' : ` It has ${count} ${count === 1 ? 'command' : 'commands'} that failed.`;
}
