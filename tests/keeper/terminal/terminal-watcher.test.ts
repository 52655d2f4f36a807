import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { SessionTerminal } from '../../../src/claude/session-terminal.js';
import type { TerminalPush } from '../../../src/keeper/wire/messages.js';
import { MAX_UNREAD_OUTPUT_BYTES, TerminalWatcher } from '../../../src/keeper/terminal/terminal-watcher.js';
import { Screen } from '../../../src/screen/screen.js';

function watched(view: { columns: number; rows: number }) {
  const size = { columns: 80, rows: 24 };
  const screen = new Screen({ ...size, scrollback: 100, clock: systemClock, reply: () => undefined });
  const terminal = new SessionTerminal(
    { write: () => 'taken', resize: () => Promise.resolve() },
    screen,
    size,
  );
  const pushes: TerminalPush[] = [];
  let unread = 0;
  const line = {
    send: (push: TerminalPush) => void pushes.push(push),
    get unreadBytes() {
      return unread;
    },
  };
  const watcher = new TerminalWatcher(
    terminal,
    { ...view, read_only: false, covered: false, scrollback: 10 },
    line,
    systemClock,
  );
  onTestFinished(() => {
    watcher.dispose();
    screen.dispose();
  });
  return {
    watcher,
    kinds: () => pushes.map(({ kind }) => kind),
    last: () => Buffer.from(pushes.at(-1)?.data ?? '', 'base64').toString(),
    setUnread: (bytes: number) => (unread = bytes),
    feed: async (text: string) => {
      void screen.feed(Buffer.from(text));
      await screen.parsed();
    },
  };
}

it('gets the state once and then the output', async () => {
  const { watcher, feed, kinds, last } = watched({ columns: 80, rows: 24 });
  await feed('before');
  watcher.show();
  expect(last()).toContain('before');
  await feed('after');
  expect(kinds()).toEqual(['state', 'output']);
  expect(last()).toBe('after');
});

it('gets pictures while its size is another one', async () => {
  const { watcher, feed, kinds } = watched({ columns: 60, rows: 20 });
  watcher.show();
  await feed('text');
  await expect.poll(() => kinds().length).toBeGreaterThan(1);
  expect(new Set(kinds())).toEqual(new Set(['picture']));
});

it('who does not read is sent nothing more, and the newest state when all was read', async () => {
  const { watcher, feed, kinds, last, setUnread } = watched({ columns: 80, rows: 24 });
  watcher.show();
  setUnread(MAX_UNREAD_OUTPUT_BYTES + 1);
  for (let line = 0; line < 200; line++) await feed(`line ${line}\r\n`);
  expect(kinds()).toEqual(['state']);
  setUnread(0);
  watcher.caughtUp();
  expect(kinds()).toEqual(['state', 'state']);
  expect(last()).toContain('line 199');
});
