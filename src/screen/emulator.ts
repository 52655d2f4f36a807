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
  /** Takes the terminal's answers to the program's queries. */
  readonly reply: (data: string) => void;
}

/** The terminal emulator with what reads it. Its code is loaded with the first one that is made. */
export class Emulator implements Disposable {
  readonly terminal: headless.Terminal;
  readonly scrolled: ScrolledLines;
  readonly serializer: ScreenSerializer;
  readonly #owned = new DisposableStore();

  constructor({ columns, rows, scrollback, reply }: EmulatorOptions) {
    this.terminal = new headless.Terminal({ cols: columns, rows, scrollback, allowProposedApi: true });
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
   * Erasing what is above the last column of the last row throws in @xterm/headless 6.0.0 (`InputHandler.eraseInDisplay` looks
   * at the row below), which would end the process. It is left out there.
   */
  #isBeyond(what: number | number[] | undefined): boolean {
    const { active } = this.terminal.buffer;
    const isLast =
      active.baseY + active.cursorY + 1 >= active.length && active.cursorX + 1 >= this.terminal.cols;
    return what === 1 && isLast;
  }

  /**
   * xterm.js takes a step for each tab, line or character that a sequence counts, also beyond the screen: 2^31 of them are minutes
   * to hours in which this process does nothing else. A count that no screen has is left out.
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
