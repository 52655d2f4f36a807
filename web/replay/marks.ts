// Pure: what stands on the timeline of a recording, and its moments in words.
import type { TimelineEvent } from '../../src/board/state.js';
import { entriesOf, type TimelineEntry } from '../views/timeline-entries.js';
import type { ReelFacts } from './reel.js';

/** Long enough for its dialog to be drawn after something was asked. */
const DIALOG_MS = 1_500;
const SHOWN: ReadonlySet<TimelineEntry['kind']> = new Set(['asked', 'decided', 'tool', 'failed']);

/** An entry of the task's timeline at its moment of the recording. */
export type Mark = Pick<TimelineEntry, 'seq' | 'kind' | 'words'> & { readonly atMs: number };

/** The decisions and tools of the time that can be shown, in order; those outside of the recording stand at its edges. */
export function marksOf(
  events: readonly TimelineEvent[],
  { began_ms, first_ms, ready_ms, is_ready }: ReelFacts,
): Mark[] {
  return entriesOf(events)
    .filter(({ kind }) => SHOWN.has(kind))
    .map(({ seq, at, kind, words }) => ({ seq, kind, words, atMs: Date.parse(at) - (began_ms ?? 0) }))
    .filter(({ atMs }) => is_ready || atMs <= ready_ms)
    .map((mark) => ({ ...mark, atMs: Math.min(ready_ms, Math.max(first_ms, mark.atMs)) }))
    .sort((a, b) => a.atMs - b.atMs);
}

/** The moment that shows a mark: a decision is shown with its dialog, before it is answered. */
export function shownAt(mark: Mark, marks: readonly Mark[]): number {
  if (mark.kind !== 'asked') return mark.atMs;
  const next = marks.find(({ atMs, kind }) => atMs > mark.atMs && (kind === 'decided' || kind === 'asked'));
  return Math.max(mark.atMs, Math.min(mark.atMs + DIALOG_MS, (next?.atMs ?? Infinity) - 1));
}

/** A moment of a recording on a few characters: `0:05`, `12:40`, `1:02:03`. */
export function momentWords(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (part: number): string => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${hours === 0 ? minutes : `${hours}:${two(minutes)}`}:${two(seconds % 60)}`;
}
