// Pure: what stands on the timeline of a recording, and its moments in words.
import type { TimelineEvent } from '../../src/board/state.js';
import { entriesOf, type TimelineEntry } from '../views/timeline-entries.js';
import type { ReelFacts } from './reel.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** Long enough for its dialog to be drawn after something was asked. */
const DIALOG_MS = 1_500;

const kinds = ['asked', 'decided', 'tool', 'failed'] as const;
export type MarkKind = (typeof kinds)[number];

/** An entry of the task's timeline at its moment of the recording. */
export interface Mark {
  readonly seq: number;
  readonly atMs: number;
  readonly kind: MarkKind;
  readonly words: string;
}

/** The decisions and tools of the time that can be shown, in order; those outside of the recording stand at its edges. */
export function marksOf(
  events: readonly TimelineEvent[],
  { began_ms, first_ms, ready_ms, is_ready }: ReelFacts,
): Mark[] {
  return entriesOf(events)
    .flatMap(({ seq, at, kind, words }) =>
      isKind(kind) ? [{ seq, atMs: Date.parse(at) - (began_ms ?? 0), kind, words }] : [],
    )
    .filter(({ atMs }) => is_ready || atMs <= ready_ms)
    .map((mark) => ({ ...mark, atMs: Math.min(ready_ms, Math.max(first_ms, mark.atMs)) }))
    .sort((a, b) => a.atMs - b.atMs);
}

function isKind(kind: TimelineEntry['kind']): kind is MarkKind {
  return kinds.some((one) => one === kind);
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
  const hours = Math.floor(seconds / HOUR);
  const minutes = Math.floor((seconds % HOUR) / MINUTE);
  return `${hours === 0 ? minutes : `${hours}:${two(minutes)}`}:${two(seconds % MINUTE)}`;
}
