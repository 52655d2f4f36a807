import type { IBuffer, IMarker, Terminal } from '@xterm/headless';

/** Rows that left the top of the normal screen. */
export interface ScrolledOff {
  readonly rows: number;
  /** The same as lines, oldest first, wrapped ones joined. Must be called before more output is parsed. */
  readonly lines: () => string[];
}

/** Tracks the first line of the normal screen. A wrapped line counts as gone when its last row has left. */
export class ScrolledLines {
  readonly #terminal: Terminal;
  #marker: IMarker | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#mark(terminal.buffer.normal.baseY);
  }

  /** The rows that have left since the last call. */
  take(): ScrolledOff | undefined {
    const { normal, active } = this.#terminal.buffer;
    // Behind a full-screen program the normal screen does not change, and markers cannot be set.
    if (active.type !== 'normal') return undefined;
    const from = this.#marker === undefined || this.#marker.line < 0 ? 0 : this.#marker.line;
    const top = normal.baseY;
    if (from >= top) {
      if (from > top || this.#marker === undefined || this.#marker.line < 0) this.#mark(top);
      return undefined;
    }
    const end = startOfLine(normal, from, top);
    this.#mark(end);
    return end === from ? undefined : { rows: end - from, lines: () => logicalLines(normal, from, end) };
  }

  #mark(line: number): void {
    const { normal } = this.#terminal.buffer;
    this.#marker?.dispose();
    this.#marker = this.#terminal.registerMarker(line - (normal.baseY + normal.cursorY));
  }
}

/** The first row of the line of which `row` is a part, but at least `from`. */
function startOfLine(buffer: IBuffer, from: number, row: number): number {
  let start = row;
  while (start > from && buffer.getLine(start)?.isWrapped === true) start--;
  return start;
}

function logicalLines(buffer: IBuffer, from: number, end: number): string[] {
  const lines: string[] = [];
  for (let row = from; row < end; row++) {
    const line = buffer.getLine(row);
    if (!line) continue;
    const continues = buffer.getLine(row + 1)?.isWrapped === true && row + 1 < end;
    const text = line.translateToString(!continues);
    const last = lines.length - 1;
    if (line.isWrapped && last >= 0) lines[last] = (lines[last] ?? '') + text;
    else lines.push(text);
  }
  return lines;
}
