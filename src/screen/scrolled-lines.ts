import type { IBuffer, IMarker, Terminal } from '@xterm/headless';

/**
 * Follows the first line of the normal screen, so that the lines which leave it at the top are each told once. A line that
 * the terminal wrapped is told whole, when its last row has left.
 */
export class ScrolledLines {
  readonly #terminal: Terminal;
  #marker: IMarker | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#mark(terminal.buffer.normal.baseY);
  }

  /** The lines that have left since the last call. */
  take(): string[] {
    const { normal, active } = this.#terminal.buffer;
    // The normal screen stands still behind a full-screen program, and markers cannot be set then.
    if (active.type !== 'normal') return [];
    const from = this.#marker === undefined || this.#marker.line < 0 ? 0 : this.#marker.line;
    let end = normal.baseY;
    if (from >= end) {
      if (from > end || this.#marker === undefined || this.#marker.line < 0) this.#mark(end);
      return [];
    }
    while (end > from && normal.getLine(end)?.isWrapped) end--;
    const lines = logicalLines(normal, from, end);
    this.#mark(end);
    return lines;
  }

  #mark(line: number): void {
    const { normal } = this.#terminal.buffer;
    this.#marker?.dispose();
    this.#marker = this.#terminal.registerMarker(line - (normal.baseY + normal.cursorY));
  }
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
