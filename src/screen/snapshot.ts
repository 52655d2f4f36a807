/** What a person would see at one moment. Never changes. */
export interface Snapshot {
  readonly columns: number;
  readonly rows: number;
  /** One text a row, top first, without the blanks at the right. */
  readonly lines: readonly string[];
  /** From 0, within the rows of this snapshot. */
  readonly cursor: { readonly column: number; readonly row: number };
  /** A full-screen program shows the terminal's second screen. */
  readonly alternate: boolean;
  /** The lines, blank ones at the end left out, joined by newlines. */
  text(): string;
}

export function createSnapshot(shown: Omit<Snapshot, 'text'>): Snapshot {
  let text: string | undefined;
  return Object.freeze({
    ...shown,
    text: () => (text ??= shown.lines.join('\n').trimEnd()),
  });
}
