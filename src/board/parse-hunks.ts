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
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const CRLF = 'CRLF';
const UNENDED = 'no newline at end of file';

export function parseHunks(hunks: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let old = 0;
  let now = 0;
  for (const line of hunks === '' ? [] : hunks.split('\n')) {
    const text = lineText(line);
    const end = line.endsWith('\r') ? CRLF : undefined;
    const last = lines.at(-1);
    const hunk = HUNK.exec(line);
    if (hunk !== null) {
      [old, now] = [Number(hunk[1]), Number(hunk[2])];
      lines.push({
        kind: 'hunk',
        old: undefined,
        now: undefined,
        text: `@${text}`,
        changed: undefined,
        end: undefined,
      });
    } else if (line.startsWith('+'))
      lines.push({ kind: 'added', old: undefined, now: now++, text, changed: undefined, end });
    else if (line.startsWith('-'))
      lines.push({ kind: 'removed', old: old++, now: undefined, text, changed: undefined, end });
    else if (line.startsWith(' '))
      lines.push({ kind: 'same', old: old++, now: now++, text, changed: undefined, end });
    // `\ No newline at end of file` is about the line before it.
    else if (line.startsWith('\\') && last !== undefined) lines.splice(-1, 1, { ...last, end: UNENDED });
  }
  return withChangedParts(withOneLineEnd(lines));
}

/** A line of a hunk without its sign and its line end. */
function lineText(line: string): string {
  return line.slice(1).replace(/\r$/, '');
}

/** What a head of a file says beside its name. */
export function fileFacts(file: DiffFile): string {
  return [
    file.old_path === undefined ? file.change : `${file.change} from ${file.old_path}`,
    ...(file.mode === undefined ? [] : [file.mode]),
    ...(file.is_misread === true ? ['not all of it is UTF-8'] : []),
    file.is_binary ? 'binary' : `+${file.insertions} −${file.deletions}`,
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
