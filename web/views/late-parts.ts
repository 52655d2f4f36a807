// What is large, and loaded when it is shown first.
import { lazy } from '../lazy.js';

export const Markdown = lazy(async () => (await import('../markdown/markdown.js')).Markdown);
/** The emulator is six times the rest of the page. */
export const TerminalView = lazy(async () => (await import('../terminal/terminal.js')).TerminalView);
export const ReplayView = lazy(async () => (await import('../replay/replay.js')).ReplayView);
