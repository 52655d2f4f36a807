// Replaces ../parts.ts in the pages in a chat: all parts at once, and smaller ones for what has no room there or is not done there.
export { DiffView } from '../views/diff.js';
export { DecisionCard } from '../views/decision.js';
export { TaskPage } from '../views/task.js';
export {
  FileActions,
  Filters,
  HeadActions,
  ImagesView,
  KeysHelp,
  LogView,
  Processes,
  ReceiptView,
  ReplayView,
  WorktreeActions,
} from './elsewhere.js';
export { Always } from './no-rules.js';
export { Markdown } from './plain-markdown.js';
export { Plan } from './plain-plan.js';
export { TerminalView } from './screen.js';
export { StartHint } from '../views/start-hint.js';
