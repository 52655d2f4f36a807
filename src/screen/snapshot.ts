// Pure.
/** What a person would see at one moment. Immutable. */
export interface Snapshot {
  readonly columns: number;
  readonly rows: number;
  /** The text of each row, from the top, without trailing blanks. */
  readonly lines: readonly string[];
  /** Rows that go on with the line of the row above; left out, none is known. */
  readonly wrapped?: readonly number[];
  /** From 0, relative to this snapshot. */
  readonly cursor: { readonly column: number; readonly row: number };
  /** A full-screen program shows the terminal's second screen. */
  readonly alternate: boolean;
  /** The lines joined by newlines, without blank ones at the end. */
  text(): string;
}

export function createSnapshot(shown: Omit<Snapshot, 'text'>): Snapshot {
  let text: string | undefined;
  return Object.freeze({
    ...shown,
    text: () => (text ??= shown.lines.join('\n').trimEnd()),
  });
}
