import { parseHunks } from '../../../../src/board/parse-hunks.js';
import type { DiffFile } from '../../../../src/board/state.js';
import type { Side } from './document-uri.js';

/** A run of lines: first and last, from 1 on. */
export type LineRun = readonly [number, number];

/**
 * The lines that can be commented on, as on the board's page: on the left those that were taken away, on the right those of the hunks.
 */
export function commentableLines(file: DiffFile, side: Side): readonly LineRun[] {
  const runs: [number, number][] = [];
  for (const { line } of linesOf(file, side)) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] + 1 === line) last[1] = line;
    else runs.push([line, line]);
  }
  return runs;
}

/**
 * A line as a comment quotes it. git shows characters that an editor takes away from it, so it is quoted from the hunk where that has
 * it, and the board finds it there again.
 */
export function quotedLine(file: DiffFile | undefined, side: Side, line: number, shown: string): string {
  const inHunk = file && linesOf(file, side).find((one) => one.line === line)?.text;
  return inHunk !== undefined && isSameLine(inHunk, shown) ? inHunk : shown;
}

/** True when both are the same line but for a byte order mark and the way that it ends. */
export function isSameLine(one: string, other: string): boolean {
  return bare(one) === bare(other);
}

function bare(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r$/, '');
}

function linesOf(file: DiffFile, side: Side): { readonly line: number; readonly text: string }[] {
  return parseHunks(file.hunks).flatMap(({ kind, old, now, text }) => {
    const line = side === 'old' ? (kind === 'removed' ? old : undefined) : now;
    return line === undefined ? [] : [{ line, text }];
  });
}
