// Pure: what a page knows of a recording, and how each action changes it. The board's process and the page share this file.
import type { DiffFile } from '../state.js';
import type { Pause } from './cut-time.js';

/** What stands on the timeline of a recording. */
export interface ReplayMark {
  /** Of its event in the journal. */
  readonly seq: number;
  /** Since the recording began; it may be before its beginning. */
  readonly at_ms: number;
  /** `decision`: something was asked that waited for an answer; `answer`: the answer. */
  readonly kind: 'decision' | 'answer' | 'tool' | 'failed';
  readonly words: string;
}

/** A commit of the task. */
export interface ReplayCommit {
  readonly commit: string;
  readonly at_ms: number;
  readonly subject: string;
}

/** A recording of a terminal. Times are milliseconds since it began. */
export interface ReplayState {
  /** When it began, in milliseconds since the epoch; null before anything was recorded. */
  readonly began_ms: number | null;
  /** What is before this time is no longer there. */
  readonly first_ms: number;
  /** Up to here it can be shown. */
  readonly ready_ms: number;
  /** All that was recorded so far can be shown. */
  readonly is_ready: boolean;
  /** The task runs: more is recorded. */
  readonly is_live: boolean;
  /** Where nothing was printed for longer than two seconds. */
  readonly pauses: readonly Pause[];
  readonly marks: readonly ReplayMark[];
  /** The oldest first. */
  readonly commits: readonly ReplayCommit[];
  /** Why git has no state of the files. */
  readonly files_why: string | null;
  /** Why there is nothing to play. */
  readonly why: string | null;
}

export type ReplayAction =
  | ({ readonly type: 'replay.changed' } & Partial<Omit<ReplayState, 'pauses' | 'marks'>>)
  /** More was read: pauses and marks that came since. */
  | {
      readonly type: 'replay.grew';
      readonly first_ms: number;
      readonly ready_ms: number;
      readonly pauses: readonly Pause[];
    }
  | { readonly type: 'replay.marked'; readonly marks: readonly ReplayMark[] };

/** A place between two events; only the board knows what it means. */
export interface ReplayPlace {
  readonly part: number;
  readonly offset: number;
  readonly ms: number;
}

/** The time, what happened (`begin`: a terminal was made, `resize`), and its text or its size as `80x24`. */
export type ReplayEvent = readonly [ms: number, kind: 'output' | 'resize' | 'begin', text: string];

/** What followed a place. */
export interface ReplayPiece {
  readonly events: readonly ReplayEvent[];
  readonly next: ReplayPlace;
}

/** The screen at a moment: for a terminal of this size that was reset. */
export interface ReplayScreenAt {
  readonly at_ms: number;
  readonly columns: number;
  readonly rows: number;
  readonly state: string;
  /** What comes next. */
  readonly next: ReplayPlace;
}

/** The files as they were committed, compared with what the commit or the task began from. */
export interface ReplayFiles {
  readonly files: readonly DiffFile[];
  readonly notes: readonly string[];
}

/** More marks are not kept: of tools the oldest are left out. */
export const MAX_MARKS = 5_000;

export const emptyReplay: ReplayState = {
  began_ms: null,
  first_ms: 0,
  ready_ms: 0,
  is_ready: false,
  is_live: false,
  pauses: [],
  marks: [],
  commits: [],
  files_why: null,
  why: null,
};

export function reduceReplay(state: ReplayState, action: ReplayAction): ReplayState {
  switch (action.type) {
    case 'replay.changed': {
      const { type: _type, ...change } = action;
      return { ...state, ...change };
    }
    case 'replay.grew': {
      const { first_ms, ready_ms, pauses } = action;
      return { ...state, first_ms, ready_ms, pauses: [...state.pauses, ...pauses] };
    }
    case 'replay.marked':
      return { ...state, marks: bounded([...state.marks, ...action.marks]) };
  }
}

function bounded(marks: readonly ReplayMark[]): readonly ReplayMark[] {
  let tooMany = marks.length - MAX_MARKS;
  if (tooMany <= 0) return marks;
  const withoutOldTools = marks.filter(({ kind }) => kind !== 'tool' || tooMany-- <= 0);
  return withoutOldTools.slice(-MAX_MARKS);
}
