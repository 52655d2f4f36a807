import unicode11 from '@xterm/addon-unicode11';
import headless from '@xterm/headless';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { ScrolledLines } from './scrolled-lines.js';
import { ScreenSerializer } from './serialize-screen.js';
import { answerColourQueries } from './terminal-queries.js';

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
    for (const id of [{ final: 'J' }, { prefix: '?', final: 'J' }]) {
      this.#owned.add(this.terminal.parser.registerCsiHandler(id, ([what]) => this.#isBeyond(what)));
    }
    this.#boundCounts();
    for (const handler of answerColourQueries(this.terminal, reply)) this.#owned.add(handler);
  }

  /**
   * Erasing above the last column of the last row throws in @xterm/headless 6.0.0 (`InputHandler.eraseInDisplay` reads the row below),
   * which would crash the process. So the sequence is ignored there.
   */
  #isBeyond(what: number | number[] | undefined): boolean {
    const { active } = this.terminal.buffer;
    const isLast =
      active.baseY + active.cursorY + 1 >= active.length && active.cursorX + 1 >= this.terminal.cols;
    return what === 1 && isLast;
  }

  /**
   * xterm.js takes one step for each tab, line or character that a sequence counts, even beyond the screen: 2^31 steps would block
   * this process for minutes to hours. A sequence with a count larger than the screen is ignored.
   */
  #boundCounts(): void {
    const { terminal } = this;
    for (const final of ['I', 'Z', 'b', 'L', 'M', 'S', 'T']) {
      const isAlongLine = ['I', 'Z', 'b'].includes(final);
      const handler = terminal.parser.registerCsiHandler(
        { final },
        ([count]) => typeof count === 'number' && count > (isAlongLine ? terminal.cols : terminal.rows),
      );
      this.#owned.add(handler);
    }
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
