// Pure: the matches in one text.
import type { FindIn } from './search-query.js';
import type { WalkPause } from './walk-pause.js';

/** More of a line says nothing more of the match. */
const SHOWN_LINE_CHARS = 300;
/** Of it, before the match. */
const LEAD_CHARS = 100;

export interface TextMatch {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units, of the first match in the line. */
  readonly column: number;
  readonly text: string;
  readonly before?: string[];
  readonly after?: string[];
}

export interface TextSearch {
  readonly text: string;
  readonly find: FindIn;
  /** Lines shown before and after a match. */
  readonly context: number;
  /** Only lines after this one. */
  readonly afterLine: number;
  /** A text that each match holds: where it is not, no line is cut out. */
  readonly fixed: string | undefined;
  readonly pause: WalkPause;
  /** False when a match does not fit any more. */
  readonly take: (match: TextMatch) => boolean;
}

/** False when `take` has enough. */
export async function searchText(search: TextSearch): Promise<boolean> {
  const { text, find, context, afterLine, fixed, pause, take } = search;
  if (fixed !== undefined && !text.includes(fixed)) return true;
  const lines = text.replace(/^\ufeff/, '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (let index = afterLine; index < lines.length; index++) {
    if (pause.isDue()) await pause.wait();
    const line = lineAt(lines, index);
    const at = find(line);
    if (at < 0) continue;
    const around = context === 0 ? {} : contextOf(lines, index, context);
    if (!take({ line: index + 1, column: at + 1, text: cutLine(line, at), ...around })) return false;
  }
  return true;
}

function contextOf(
  lines: readonly string[],
  index: number,
  count: number,
): { readonly before: string[]; readonly after: string[] } {
  const shown = (from: number, to: number): string[] => {
    const cut: string[] = [];
    for (let at = Math.max(0, from); at < Math.min(lines.length, to); at++)
      cut.push(cutLine(lineAt(lines, at), 0));
    return cut;
  };
  return { before: shown(index - count, index), after: shown(index + 1, index + 1 + count) };
}

function lineAt(lines: readonly string[], index: number): string {
  const line = lines[index] ?? '';
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** The part of the line around `at`, with `…` where it is cut. */
function cutLine(line: string, at: number): string {
  if (line.length <= SHOWN_LINE_CHARS) return line;
  const start = at < SHOWN_LINE_CHARS - LEAD_CHARS ? 0 : at - LEAD_CHARS;
  const end = start + SHOWN_LINE_CHARS;
  // No half of a character at the cuts.
  const part = line.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${start > 0 ? '…' : ''}${part}${end < line.length ? '…' : ''}`;
}
