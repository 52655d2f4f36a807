// Pure: what stands on the timeline of a recording.
import type { ReplayState } from '../../src/board/replay/replay-state.js';
import type { ReelFacts } from './reel.js';

export interface TimelineMark {
  readonly key: string;
  readonly atMs: number;
  readonly kind: 'decision' | 'answer' | 'tool' | 'failed' | 'commit';
  readonly words: string;
}

export const kindWords: Readonly<Record<TimelineMark['kind'], string>> = {
  decision: 'asked',
  answer: 'answered',
  tool: 'tool',
  failed: 'failed',
  commit: 'commit',
};

/** Marks and commits of the time that can be shown, in order; those outside of the recording stand at its edges. */
export function timelineMarks(
  { marks, commits }: Pick<ReplayState, 'marks' | 'commits'>,
  { began_ms, first_ms, ready_ms, is_ready }: ReelFacts,
): TimelineMark[] {
  const beganMs = began_ms ?? 0;
  const all: TimelineMark[] = [
    ...marks.map(({ seq, at_ms, kind, words }) => ({ key: `${seq}`, atMs: at_ms - beganMs, kind, words })),
    ...commits.map(({ commit, at_ms, subject }) => ({
      key: commit,
      atMs: at_ms - beganMs,
      kind: 'commit' as const,
      words: subject,
    })),
  ];
  return all
    .filter(({ atMs }) => is_ready || atMs <= ready_ms)
    .map((mark) => ({ ...mark, atMs: Math.min(ready_ms, Math.max(first_ms, mark.atMs)) }))
    .sort((a, b) => a.atMs - b.atMs);
}
