import type { TerminalSize } from '../../editor.js';

/** The editor ignores an event without a size, and uses no size that is larger than its own. */
const NO_OVERRIDE: TerminalSize = { columns: 500, rows: 300 };

/**
 * The size of a terminal in the editor. While a session's size is set, the editor reports the smaller of that and its own: whatever
 * differs from the session's is its own.
 */
export class OverrideSize {
  readonly #fire: (size: TerminalSize) => void;
  #session: TerminalSize | undefined;
  #room: TerminalSize | undefined;

  constructor(fire: (size: TerminalSize) => void) {
    this.#fire = fire;
  }

  /** What the editor has room for, as far as it has said so. */
  get room(): TerminalSize | undefined {
    return this.#room;
  }

  /** The editor's size; true when it is news. */
  reported(size: TerminalSize): boolean {
    if (isSame(size, this.#session) || isSame(size, this.#room)) return false;
    this.#room = size;
    this.set(undefined);
    return true;
  }

  /** The terminal has the size of the session, if there is room; undefined: that of the editor. */
  set(session: TerminalSize | undefined): void {
    if (session === this.#session || isSame(session, this.#session)) return;
    this.#session = session && { columns: session.columns, rows: session.rows };
    this.#fire(this.#session ?? NO_OVERRIDE);
  }
}

function isSame(one: TerminalSize | undefined, other: TerminalSize | undefined): boolean {
  return one !== undefined && other !== undefined && one.columns === other.columns && one.rows === other.rows;
}
