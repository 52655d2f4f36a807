// What is loaded when it is shown first. The pages in a chat have all in one file: app/parts.ts replaces this one.
import type { DiffFile } from '../src/board/state.js';
import { lazy } from './lazy.js';

export const TaskPage = lazy(async () => (await import('./views/task.js')).TaskPage);
export const DecisionCard = lazy(async () => (await import('./views/decision.js')).DecisionCard);
export const Always = lazy(async () => (await import('./views/always.js')).Always);
export const Filters = lazy(async () => (await import('./views/filters.js')).Filters);
export const Plan = lazy(async () => (await import('./views/plan.js')).Plan);
export const Markdown = lazy(async () => (await import('./markdown/markdown.js')).Markdown);
export const DiffView = lazy(async () => (await import('./views/diff.js')).DiffView);
export const ImagesView = lazy(async () => (await import('./views/images.js')).ImagesView);
/** The emulator is six times the rest of the page. */
export const TerminalView = lazy(async () => (await import('./terminal/terminal.js')).TerminalView);
export const ReceiptView = lazy(async () => (await import('./views/receipt.js')).ReceiptView);
export const ReplayView = lazy(async () => (await import('./replay/replay.js')).ReplayView);
export const KeysHelp = lazy(async () => (await import('./views/keys-help.js')).KeysHelp);
/** Of tasks that work in a worktree. */
export const WorktreeActions = lazy(async () => (await import('./views/worktree.js')).WorktreeActions);
export const LogView = lazy(async () => (await import('./views/log.js')).LogView);
/** Most people have none. */
export const Processes = lazy(async () => (await import('./views/processes.js')).Processes);
/** What more can be done to a changed file: nothing, in a browser. */
export const FileActions = (_file: { readonly taskId: string; readonly file: DiffFile }) => null;
export { NoticesButton as HeadActions } from './views/notices.js';
export { StartHint } from './views/start-hint.js';
