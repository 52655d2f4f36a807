import { z } from 'zod';
import { briefSchema } from '../../checks/brief.js';
import { shownRun } from '../../checks/result.js';
import { textPage } from '../../base/input.js';
import type { Changes } from '../../git/diff/patch.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { fittingPage, REPLY_BUDGET_BYTES, wireBytes } from '../../mcp/answers.js';
import { pollingHint, undoneWords } from '../../tasks/polling-hint.js';
import { isUndoable, receiptView, treeOf } from '../../tasks/receipt/receipt.js';
import { defineTool } from '../define-tool.js';
import { MAX_PATCH_CHARS, messageText, MIN_PATCH_BYTES } from '../git/git-fields.js';
import { taskOutput, taskView } from './task-fields.js';

/** For the outputs of checks that are not met. */
const CHECKS_CHARS = 4_000;
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
  effect: 'read',
  searchHint: 'result, receipt, changes and tests of a delegated task',
  alwaysLoad: true,
  description:
    'Receipt of a finished task: final message, commands with exit codes, files, commits, decisions, cost.',
  input: { task_id: z.string(), cursor: z.string().optional() },
  output: {
    checks: z.record(z.string(), z.unknown()).optional(),
    brief: briefSchema.optional(),
    task_id: taskOutput.task_id,
    status: taskOutput.status,
    decisions: z.array(z.unknown()),
    receipt: z.record(z.string(), z.unknown()).nullable(),
    left_out: z.record(z.string(), z.int()),
    cursor: z.string().optional(),
    reviewed: z.string().optional(),
    hint: z.string(),
  },
  handle: async ({ taskId, cursor }, services, { signal }) => {
    const record = await (await services.tasks()).get(knownTaskId(taskId));
    const whole = await (await services.receipts()).receiptOf(record, signal);
    const { checked, brief } = record;
    const view = {
      ...(checked !== undefined && { checks: shownRun(checked, CHECKS_CHARS) }),
      ...(brief !== undefined && { brief }),
      ...taskView(record),
    };
    if (whole === undefined) {
      const hint = `The task has not ended: there is no receipt yet. ${pollingHint(record)}`;
      return { ...view, receipt: null, left_out: {}, hint };
    }
    if (cursor !== undefined) {
      const { text, ...rest } = textPage(whole.final_message, cursor, MESSAGE_BYTES);
      return { ...view, receipt: { final_message: text }, left_out: {}, ...rest, hint: '' };
    }
    const { receipt, left_out } = receiptView(
      whole,
      REPLY_BUDGET_BYTES - FRAME_BYTES - wireBytes([view.checks, view.brief]),
    );
    const shown = receipt.final_message.length;
    const tree = treeOf(whole);
    const worktree = record.worktree !== undefined && tree !== undefined ? WORKTREE_WORDS : '';
    const ends = isUndoable(record, whole) ? UNDO_WORDS : worktree;
    const complete =
      whole.git.state === 'unknown'
        ? 'This is all of the receipt except what git says, which is not known.'
        : 'This is the complete receipt.';
    const rest = `The complete receipt is in the resource tasks://${record.task_id}; cursor gives the rest of the final message.`;
    const failed = whole.commands_failed;
    const doubts =
      failed === 0 ? '' : ` It has ${failed} ${failed === 1 ? 'command' : 'commands'} that failed.`;
    return {
      ...view,
      receipt,
      left_out,
      ...(shown < whole.final_message.length && { cursor: String(shown) }),
      ...(ends !== '' && { reviewed: tree }),
      hint: `${Object.keys(left_out).length > 0 ? rest : complete}${doubts}${ends}${undoneWords(record)}`,
    };
  },
});

export const getTaskDiff = defineTool({
  name: 'get_task_diff',
  title: 'Get task diff',
  effect: 'read',
  searchHint: 'what a delegated task changed',
  description: 'Patch of all that a task changed, committed or not, in pages.',
  maxResultChars: MAX_PATCH_CHARS,
  input: { task_id: z.string(), cursor: z.string().optional() },
  output: {
    files: z.int(),
    omitted: z.array(z.string()),
    cursor: z.string().optional(),
    message: z.string(),
    diff: z.string(),
  },
  handle: async ({ taskId, cursor }, services, { signal, pageBytes }) => {
    const record = await (await services.tasks()).get(knownTaskId(taskId));
    const patch = await (await services.changes()).patchOf(record);
    if (patch.state === 'nothing') return { files: 0, omitted: [], message: patch.why, diff: '' };
    const git = await services.git();
    const page = await fittingPage<Changes, number | undefined>({
      maxBytes: pageBytes,
      minBytes: MIN_PATCH_BYTES,
      read: (maxBytes, larger) =>
        git.filesDiff(patch.query, { cursor: larger?.here ?? cursor, maxBytes }, signal),
      text: ({ text }) => text,
    });
    const { leftOutBytes, files, text: diff } = page;
    const last =
      leftOutBytes > 0 ? `The last page: the last ${leftOutBytes} bytes are left out.` : 'This is all.';
    const rest =
      page.cursor === undefined ? last : 'Pass cursor for the next page, with the files of omitted.';
    return {
      files,
      omitted: page.omitted.map(({ file }) => file),
      cursor: page.cursor,
      message: messageText([rest, ...patch.notes], page.escaped),
      diff,
    };
  },
});
