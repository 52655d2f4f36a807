import unicode11 from '@xterm/addon-unicode11';
import headless from '@xterm/headless';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { guardSequences } from './guard-sequences.js';
import { scrolledLines, type ScrolledOff } from './scrolled-lines.js';
import { ScreenSerializer } from './serialize-screen.js';

/** What the terminal answers to OSC 10, 11 and 12, the colors of text, background and cursor: those of a dark one. */
const COLOURS = { 10: 'rgb:d0d0/d0d0/d0d0', 11: 'rgb:0000/0000/0000', 12: 'rgb:d0d0/d0d0/d0d0' };

export interface EmulatorOptions {
  readonly columns: number;
  readonly rows: number;
  /** Lines kept above the screen. */
  readonly scrollback: number;
  /** Receives the terminal's answers to the program's queries. */
  readonly reply: (data: string) => void;
}

/** The terminal emulator with what reads it. */
export interface Emulator extends Disposable {
  readonly terminal: headless.Terminal;
  readonly serializer: ScreenSerializer;
  /** The rows that have left the top of the normal screen since the last call. */
  readonly takeScrolled: () => ScrolledOff | undefined;
}

export function openEmulator({ columns, rows, scrollback, reply }: EmulatorOptions): Emulator {
  const owned = new DisposableStore();
  // What it thinks of the bytes of a program, with dumps of its state, would fill the keeper's log: it logs nothing.
  const options = { cols: columns, rows, scrollback, allowProposedApi: true, logLevel: 'off' } as const;
  const terminal = owned.add(new headless.Terminal(options));
  terminal.loadAddon(new unicode11.Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  const takeScrolled = scrolledLines(terminal);
  const serializer = owned.add(new ScreenSerializer(terminal));
  owned.add(terminal.onData(reply));
  for (const handler of guardSequences(terminal)) owned.add(handler);
  // xterm.js does not answer these without a display, and some programs wait for them.
  for (const [code, colour] of Object.entries(COLOURS)) {
    const answer = (data: string): boolean => {
      if (data === '?') reply(`\x1b]${code};${colour}\x1b\\`);
      return data === '?';
    };
    owned.add(terminal.parser.registerOscHandler(Number(code), answer));
  }
  return { terminal, serializer, takeScrolled, dispose: () => owned.dispose() };
}
