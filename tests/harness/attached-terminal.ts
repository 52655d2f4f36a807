import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { nextEvent } from '../../src/base/lifecycle.js';
import { PtyManager } from '../../src/pty/pty-manager.js';
import type { ExitStatus } from '../../src/pty/exit-status.js';
import { Screen } from '../../src/screen/screen.js';
import { ReadChild } from './read-child.js';
import { serverEntry } from './start-bridge.js';

/** What is waited for comes at once; on a machine that is busy with other work a start alone may take ten seconds. */
const LIMIT_MS = 45_000;
/** How long a person waits before pressing a key again. */
const PRESS_AGAIN_MS = 2_000;
/** Two Ctrl-C within a moment end Claude Code. */
const LEAVE_AGAIN_MS = 400;
const CTRL_C = '\u0003';

/** A person's terminal in which `attach` runs. */
export interface AttachedTerminal {
  readonly session: ReadChild;
  readonly exited: Promise<ExitStatus>;
  text(): Promise<string>;
  /** Resolves with the screen as soon as it holds `wanted`; rejects with what it held. */
  sees(wanted: string | RegExp): Promise<string>;
  /** All bytes that the terminal got. */
  raw(): string;
  type(keys: string): void;
  /**
   * Presses a key as a person does: once more while the menu stands as it stood, since the CLI takes no key just after it has
   * drawn. What comes next is not pressed for, however late it comes.
   */
  press(key: string, isDone: Promise<unknown>): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Presses Ctrl-C until Claude Code has ended, as a person does: in the middle of a turn, one ends the turn alone. */
  leave(): Promise<void>;
}

export interface AttachOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** `attach` when left out. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** The folder of the workplace when left out. */
  readonly cwd?: string;
  /** A shell line with `$ATTACH` for the command; the command alone when left out. */
  readonly shell?: string;
}

/** Whose terminal it is: a bridge, or what it takes of one. */
interface Person {
  readonly env: Readonly<Record<string, string>>;
  readonly workplace: { readonly root: string };
}

/** Runs `claude-code-bridge attach`, or another command, in a real pseudo-terminal, as the user of `bridge`. */
export async function attach(
  bridge: Person,
  {
    columns = 120,
    rows = 40,
    command = 'attach',
    args = [],
    cwd = bridge.workplace.root,
    shell,
  }: AttachOptions = {},
): Promise<AttachedTerminal> {
  const pty = new PtyManager({ clock: systemClock });
  const words = [process.execPath, serverEntry, command, ...args];
  const session = await ReadChild.start((sink) =>
    pty.spawn({
      command: shell === undefined ? words : ['sh', '-c', shell],
      cwd,
      env: { ...bridge.env, TERM: 'xterm-256color', ATTACH: words.map((word) => `'${word}'`).join(' ') },
      size: { columns, rows },
      shell: '/bin/sh',
      sink,
    }),
  );
  const screen = new Screen({
    columns,
    rows,
    scrollback: 1000,
    clock: systemClock,
    reply: (data) => session.write(data),
  });
  let raw = '';
  session.onData((bytes) => {
    raw += bytes.toString();
    void screen.feed(bytes);
  });
  onTestFinished(async () => {
    pty.dispose();
    await pty.whenClosed();
    screen.dispose();
  });
  const text = async (): Promise<string> => {
    await screen.parsed();
    return screen.snapshot().text();
  };
  /** Rejects with what the screen held. */
  const inTime = async (what: string, promise: Promise<unknown>): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`not ${what}\n${screen.snapshot().text()}`)), LIMIT_MS);
    });
    await Promise.race([promise, late]).finally(() => clearTimeout(timer));
  };
  return {
    session,
    exited: session.exited,
    text,
    raw: () => raw,
    sees: async (wanted) => {
      const isSeen = (): boolean => {
        const shown = screen.snapshot().text();
        return typeof wanted === 'string' ? shown.includes(wanted) : wanted.test(shown);
      };
      await text();
      if (!isSeen()) await inTime(`seen: ${String(wanted)}`, nextEvent(screen.onFrame, isSeen));
      return text();
    },
    type: (keys) => {
      session.write(keys);
    },
    press: async (key, isDone) => {
      await screen.parsed();
      const marked = markedLines(screen.snapshot().text());
      const again = setInterval(() => {
        if (markedLines(screen.snapshot().text()) === marked) session.write(key);
      }, PRESS_AGAIN_MS);
      try {
        session.write(key);
        await isDone;
      } finally {
        clearInterval(again);
      }
    },
    leave: async () => {
      const again = setInterval(() => session.write(CTRL_C), LEAVE_AGAIN_MS);
      try {
        session.write(CTRL_C);
        await inTime('ended', session.exited);
      } finally {
        clearInterval(again);
      }
    },
    resize: (newColumns, newRows) => {
      session.resize(newColumns, newRows);
      screen.resize(newColumns, newRows);
    },
  };
}

/** The lines at which a menu, or the input box, stands. */
function markedLines(shown: string): string {
  return (
    shown
      .split('\n')
      .filter((line) => line.includes('❯'))
      // A picture fills its lines with spaces, and output does not.
      .map((line) => line.trimEnd())
      .join('\n')
  );
}
