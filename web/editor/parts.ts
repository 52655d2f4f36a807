// Replaces ../parts.ts in the page in VS Code: terminals and changed files are opened in the editor itself.
export {
  Always,
  DecisionCard,
  DiffView,
  Filters,
  ImagesView,
  KeysHelp,
  LogView,
  Markdown,
  Plan,
  Processes,
  ReceiptView,
  ReplayView,
  TaskPage,
  WorktreeActions,
} from '../parts.js';
export { FileActions } from './file-actions.js';
export { HeadActions } from './head-actions.js';
export { StartHint } from './start-hint.js';
export { TerminalView } from './terminal.js';
