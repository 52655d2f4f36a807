// Sequences that would crash or block an xterm.js terminal. The board's page uses this file, too.
import type { Disposable } from '../base/lifecycle.js';

type Parameters = readonly (number | number[])[];

/** What `@xterm/headless` and `@xterm/xterm` have in common. */
export interface GuardedTerminal {
  readonly cols: number;
  readonly rows: number;
  readonly buffer: {
    readonly active: {
      readonly baseY: number;
      readonly cursorX: number;
      readonly cursorY: number;
      readonly length: number;
    };
  };
  readonly parser: {
    registerCsiHandler(
      id: { readonly prefix?: string; readonly final: string },
      handler: (parameters: Parameters) => boolean,
    ): Disposable;
  };
}

/**
 * Erasing above the last column of the last row throws in xterm.js 6.0.0 (`InputHandler.eraseInDisplay` reads the row below), so the
 * sequence is ignored there. xterm.js takes one step for each tab, line or character that a sequence counts, even beyond the screen:
 * 2^31 steps would block for minutes to hours. A sequence with a count larger than the screen is ignored.
 */
export function guardSequences(terminal: GuardedTerminal): Disposable[] {
  const { parser } = terminal;
  const erasing = [{ final: 'J' }, { prefix: '?', final: 'J' }].map((id) =>
    parser.registerCsiHandler(id, ([what]) => what === 1 && isAtEnd(terminal)),
  );
  const counting = ['I', 'Z', 'b', 'L', 'M', 'S', 'T'].map((final) => {
    const isAlongLine = ['I', 'Z', 'b'].includes(final);
    return parser.registerCsiHandler(
      { final },
      ([count]) => typeof count === 'number' && count > (isAlongLine ? terminal.cols : terminal.rows),
    );
  });
  return [...erasing, ...counting];
}

function isAtEnd({ buffer: { active }, cols }: GuardedTerminal): boolean {
  return active.baseY + active.cursorY + 1 >= active.length && active.cursorX + 1 >= cols;
}
