import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { TerminalWatchers } from '../../../src/keeper/terminal/terminal-watchers.js';
import type { TerminalView } from '../../../src/keeper/wire/messages.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { stillTerminal } from './still-terminal.js';

const size = { columns: 80, rows: 24 };
const line = { send: () => undefined, unreadBytes: 0 };
const view: TerminalView = { ...size, read_only: false, covered: false, scrollback: 0, hold_seconds: 60 };
let clock: ManualClock;
let holders: number;
let watchers: TerminalWatchers;

beforeEach(() => {
  clock = new ManualClock();
  holders = 0;
  const terminal = stillTerminal(size);
  watchers = new TerminalWatchers({
    clock,
    terminal: () => terminal,
    journal: { append: () => undefined },
    recording: { typed: () => undefined, resized: () => undefined },
    onTyped: () => undefined,
    hold: () => {
      holders++;
      return { dispose: () => holders-- };
    },
  });
  onTestFinished(() => watchers.dispose());
});

/** Watches, types, and is lost. */
function lost(shown: TerminalView): void {
  watchers.watch(line, shown);
  watchers.type(line, Buffer.from('x'));
  expect(holders).toBe(1);
  watchers.leave(line);
}

it('who has typed and is lost holds the session for the time that the view says', () => {
  lost(view);
  clock.advance(59_000);
  expect(holders).toBe(1);
  clock.advance(1_000);
  expect(holders).toBe(0);
});

it('who types next holds the session instead of who is lost', () => {
  lost(view);
  watchers.watch(line, view);
  watchers.type(line, Buffer.from('x'));
  expect(holders).toBe(1);
  watchers.watch(line, { ...view, read_only: true });
  expect(holders).toBe(0);
});
