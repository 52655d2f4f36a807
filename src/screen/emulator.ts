import unicode11 from '@xterm/addon-unicode11';
import headless from '@xterm/headless';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { guardSequences } from './guard-sequences.js';
import { ScrolledLines } from './scrolled-lines.js';
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

/** The terminal emulator with the objects that read it. */
export class Emulator implements Disposable {
  readonly terminal: headless.Terminal;
  readonly scrolled: ScrolledLines;
  readonly serializer: ScreenSerializer;
  readonly #owned = new DisposableStore();

  constructor({ columns, rows, scrollback, reply }: EmulatorOptions) {
    this.terminal = new headless.Terminal({
      cols: columns,
      rows,
      scrollback,
      allowProposedApi: true,
      // What it thinks of the bytes of a program, with dumps of its state, would fill the keeper's log.
      logLevel: 'off',
    });
    this.terminal.loadAddon(new unicode11.Unicode11Addon());
    this.terminal.unicode.activeVersion = '11';
    this.scrolled = new ScrolledLines(this.terminal);
    this.#owned.add(this.terminal);
    this.serializer = this.#owned.add(new ScreenSerializer(this.terminal));
    this.#owned.add(this.terminal.onData(reply));
    for (const handler of guardSequences(this.terminal)) this.#owned.add(handler);
    // xterm.js does not answer these without a display, and some programs wait for them.
    for (const [code, colour] of Object.entries(COLOURS)) {
      const answer = (data: string): boolean => {
        if (data === '?') reply(`\x1b]${code};${colour}\x1b\\`);
        return data === '?';
      };
      this.#owned.add(this.terminal.parser.registerOscHandler(Number(code), answer));
    }
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
