import type { IBuffer, IMarker, Terminal } from '@xterm/headless';

/** Rows that left the top of the normal screen. */
export interface ScrolledOff {
  readonly rows: number;
  /** The same as lines, oldest first, wrapped ones joined. Must be called before more output is parsed. */
  readonly lines: () => string[];
}

/** Tracks the first line of the normal screen: each call gives the rows that have left since. A wrapped line counts when its last row has. */
export function scrolledLines(terminal: Terminal): () => ScrolledOff | undefined {
  let marker: IMarker | undefined;
  const mark = (line: number): void => {
    const { normal } = terminal.buffer;
    marker?.dispose();
    marker = terminal.registerMarker(line - (normal.baseY + normal.cursorY));
  };
  mark(terminal.buffer.normal.baseY);
  return () => {
    const { normal, active } = terminal.buffer;
    // Behind a full-screen program the normal screen does not change, and markers cannot be set.
    if (active.type !== 'normal') return undefined;
    const marked = marker?.line ?? -1;
    const from = Math.max(0, marked);
    const top = normal.baseY;
    if (from >= top) {
      if (from > top || marked < 0) mark(top);
      return undefined;
    }
    const end = startOfLine(normal, from, top);
    mark(end);
    return end === from ? undefined : { rows: end - from, lines: () => logicalLines(normal, from, end) };
  };
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
