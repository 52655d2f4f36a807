import unicode11 from '@xterm/addon-unicode11';
import headless from '@xterm/headless';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { guardSequences } from './guard-sequences.js';
import { ScrolledLines } from './scrolled-lines.js';
import { ScreenSerializer } from './serialize-screen.js';

/** The colors that the bridge's terminal reports: light grey on black, like a dark terminal. */
const FOREGROUND = 'rgb:d0d0/d0d0/d0d0';
const BACKGROUND = 'rgb:0000/0000/0000';

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
    for (const handler of answerColourQueries(this.terminal, reply)) this.#owned.add(handler);
  }

  dispose(): void {
    this.#owned.dispose();
  }
}

/** Answers the color queries that xterm.js does not answer without a display; some programs wait for them. */
function answerColourQueries(terminal: headless.Terminal, reply: (data: string) => void): Disposable[] {
  const colours = [
    { code: 10, value: FOREGROUND },
    { code: 11, value: BACKGROUND },
    { code: 12, value: FOREGROUND },
  ];
  return colours.map(({ code, value }) =>
    terminal.parser.registerOscHandler(code, (data) => {
      if (data !== '?') return false;
      reply(`\x1b]${code};${value}\x1b\\`);
      return true;
    }),
  );
}
