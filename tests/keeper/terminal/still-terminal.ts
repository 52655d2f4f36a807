import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { SessionTerminal } from '../../../src/claude/session-terminal.js';
import type { TerminalSize } from '../../../src/pty/child.js';
import { Screen } from '../../../src/screen/screen.js';

/** A terminal whose program says nothing and takes every key. */
export function stillTerminal(size: TerminalSize): SessionTerminal {
  const screen = new Screen({ ...size, scrollback: 10, clock: systemClock, reply: () => undefined });
  onTestFinished(() => screen.dispose());
  return new SessionTerminal({ write: () => 'taken', resize: () => Promise.resolve() }, screen, size);
}
