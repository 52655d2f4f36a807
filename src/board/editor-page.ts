// What the page in VS Code's view "Claude tasks" and the extension say to each other by `postMessage`. Both are of one build.
import { z } from 'zod';
import { ANY_TASK_ID_PATTERN } from '../base/ids.js';
import { clientMessageSchema, type ServerMessage } from './protocol.js';

const MAX_PATH_CHARS = 4_096;
const taskId = z.string().regex(ANY_TASK_ID_PATTERN);

/** What only the editor can do for the page. */
export const editorActionSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open-terminal'), task_id: taskId }),
  /** Opens a changed file in the diff editor; without a file, the list of them. */
  z.object({
    type: z.literal('open-change'),
    task_id: taskId,
    file: z.string().min(1).max(MAX_PATH_CHARS).optional(),
  }),
  z.object({ type: z.literal('start-task') }),
  /** Shows the setting that says how the bridge is run. */
  z.object({ type: z.literal('open-settings') }),
]);
export type EditorAction = z.infer<typeof editorActionSchema>;

export const pageMessageSchema = z.discriminatedUnion('type', [
  /** The page has loaded, or (`asked`) its person asks for the board: the extension connects it. */
  z.object({ type: z.literal('connect'), asked: z.boolean() }),
  /** For the board, as a page in a browser sends it. */
  z.object({ type: z.literal('board'), message: clientMessageSchema }),
  z.object({ type: z.literal('editor'), action: editorActionSchema }),
]);
export type PageMessage = z.infer<typeof pageMessageSchema>;

/** What the extension says to the page. */
export type PageNews =
  | { readonly type: 'board'; readonly message: ServerMessage }
  /** The extension has no connection to the board. */
  | { readonly type: 'lost'; readonly why: string }
  /** It has one now: the page connects. */
  | { readonly type: 'ready' }
  /** Shows this task, or the overview. */
  | { readonly type: 'show'; readonly task_id: string | null };
