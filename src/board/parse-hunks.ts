// Pure: the lines of a file's hunks as git prints them.
import type { DiffFile } from './state.js';

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'hunk';
  /** In the file before; undefined for an added line. */
  readonly old: number | undefined;
  /** In the file as it is now; undefined for a removed line. */
  readonly now: number | undefined;
  readonly text: string;
  /** The part of a changed line that differs from its counterpart: first character, and the one after the last. */
  readonly changed: readonly [number, number] | undefined;
  /** What is to be said of its end. */
  readonly end: string | undefined;
  /** Of the head of a hunk: how many unchanged lines lie between it and the hunk before. */
  readonly skipped?: number;
}

/** The first line of each side, and what git says of its surroundings. */
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?([^]*)$/;
const CRLF = 'CRLF';
const UNENDED = 'no newline at end of file';

export function parseHunks(hunks: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let old = 1;
  let now = 1;
  for (const line of hunks === '' ? [] : hunks.split('\n')) {
    const end = line.endsWith('\r') ? CRLF : undefined;
    const same = {
      old: undefined,
      now: undefined,
      text: line.slice(1).replace(/\r$/, ''),
      changed: undefined,
      end,
    };
    const last = lines.at(-1);
    const hunk = HUNK.exec(line);
    if (hunk !== null) {
      // A side without lines begins after the one that is named.
      const first = Math.max(1, Number(hunk[2]));
      lines.push({
        ...same,
        kind: 'hunk',
        text: (hunk[3] ?? '').replace(/\r$/, ''),
        end: undefined,
        skipped: Math.max(0, first - now),
      });
      [old, now] = [Number(hunk[1]), Number(hunk[2])];
    } else if (line.startsWith('+')) lines.push({ ...same, kind: 'added', now: now++ });
    else if (line.startsWith('-')) lines.push({ ...same, kind: 'removed', old: old++ });
    else if (line.startsWith(' ')) lines.push({ ...same, kind: 'same', old: old++, now: now++ });
    // `\ No newline at end of file` is about the line before it.
    else if (line.startsWith('\\') && last !== undefined) lines.splice(-1, 1, { ...last, end: UNENDED });
  }
  return withChangedParts(withOneLineEnd(lines));
}

/** The unchanged lines before the hunk at `at`; `now` are the lines of the file as it is now. */
export function linesBetween(lines: readonly DiffLine[], at: number, now: readonly string[]): DiffLine[] {
  const next = lines.slice(at + 1);
  const first = next.find((line) => line.now !== undefined)?.now ?? now.length + 1;
  const firstOld = next.find((line) => line.old !== undefined)?.old ?? first;
  const { skipped = 0 } = lines[at] ?? {};
  return Array.from({ length: skipped }, (_, index) => {
    const back = skipped - index;
    const text = (now[first - back - 1] ?? '').replace(/\r$/, '');
    return {
      kind: 'same',
      old: firstOld - back,
      now: first - back,
      text,
      changed: undefined,
      end: undefined,
    };
  });
}

/** The lines in two columns: what was taken away beside what came in its place. */
export function splitRows(
  lines: readonly DiffLine[],
): (readonly [left: DiffLine | undefined, right: DiffLine | undefined])[] {
  const rows: (readonly [DiffLine | undefined, DiffLine | undefined])[] = [];
  for (let at = 0; at < lines.length;) {
    const removed = runLength(lines, at, 'removed');
    const added = runLength(lines, at + removed, 'added');
    for (let one = 0; one < Math.max(removed, added); one++)
      rows.push([
        one < removed ? lines[at + one] : undefined,
        one < added ? lines[at + removed + one] : undefined,
      ]);
    if (removed + added === 0) rows.push([lines[at], lines[at]]);
    at += Math.max(1, removed + added);
  }
  return rows;
}

/** What a head of a file says beside its name and its numbers of lines. */
export function fileFacts({ change, old_path: before, mode, is_misread, is_binary }: DiffFile): string {
  return [
    ...(before !== undefined ? [`${change} from ${before}`] : change === 'changed' ? [] : [change]),
    ...(mode === undefined ? [] : [mode]),
    ...(is_misread === true ? ['not all of it is UTF-8'] : []),
    ...(is_binary ? ['binary'] : []),
  ].join(', ');
}

/** Where all lines end with CRLF, it is said once. */
function withOneLineEnd(lines: readonly DiffLine[]): readonly DiffLine[] {
  const ended = lines.filter(({ kind, end }) => kind !== 'hunk' && end !== UNENDED);
  if (ended.length === 0 || ended.some(({ end }) => end !== CRLF)) return lines;
  return lines.map((line, at) => {
    if (at === 0) return { ...line, end: 'all lines end with CRLF' };
    return line.end === CRLF ? { ...line, end: undefined } : line;
  });
}

/** Where as many lines were added as were removed before them, each stands for the other. */
function withChangedParts(lines: readonly DiffLine[]): DiffLine[] {
  const marked = [...lines];
  for (let at = 0; at < lines.length;) {
    const removed = runLength(lines, at, 'removed');
    const added = runLength(lines, at + removed, 'added');
    if (removed > 0 && removed === added) {
      for (let one = 0; one < removed; one++) {
        const [before, after] = [lines[at + one], lines[at + removed + one]];
        if (before === undefined || after === undefined) continue;
        const [ofBefore, ofAfter] = changedParts(before.text, after.text);
        marked[at + one] = { ...before, changed: ofBefore };
        marked[at + removed + one] = { ...after, changed: ofAfter };
      }
    }
    at += Math.max(1, removed + added);
  }
  return marked;
}

function runLength(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length++;
  return length;
}

/** What is left of each text without their common beginning and end; undefined when they have little in common. */
function changedParts(before: string, after: string): readonly [DiffLine['changed'], DiffLine['changed']] {
  const shortest = Math.min(before.length, after.length);
  let start = 0;
  while (start < shortest && before[start] === after[start]) start++;
  let end = 0;
  while (end < shortest - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  if ((start + end) * 2 < shortest) return [undefined, undefined];
  return [
    [start, before.length - end],
    [start, after.length - end],
  ];
}
