// Pure: what the board sends of a recording. The board's process and the page share this file.
import { at, below, isObject, type DiffFile, type Values } from '../state.js';

/** What stands on the timeline of a recording. Times are milliseconds since the epoch. */
export interface ReplayMark {
  /** Of its event in the journal. */
  readonly seq: number;
  /** It may be before the beginning of the recording. */
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

/** What is around a recording, whose text the page reads itself. */
export interface ReplayState {
  /** The task runs: more is recorded. */
  readonly is_live: boolean;
  /** Why there is nothing to play, where nothing is. */
  readonly why_empty: string;
  readonly marks: readonly ReplayMark[];
  /** The oldest first. */
  readonly commits: readonly ReplayCommit[];
  /** Why git has no state of the files. */
  readonly files_why: string | null;
}

/** Of `replay:/<id>`: `mark/<seq>` and `commit/<number>` in their order, and the other fields by their names. */
export function replayOf(values: Values): ReplayState {
  return {
    is_live: at(values, 'is_live', (value): value is boolean => typeof value === 'boolean') ?? false,
    why_empty: at(values, 'why_empty', isText) ?? '',
    marks: Object.values(below(values, 'mark/', (value): value is ReplayMark => isObject(value))),
    commits: Object.values(below(values, 'commit/', (value): value is ReplayCommit => isObject(value))),
    files_why: at(values, 'files_why', isText) ?? null,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Some whole lines of a recording (asciicast v2). */
export interface RecordingPiece {
  /** Names the file; empty where nothing was recorded. */
  readonly file: string;
  /** Bytes of the file before these lines, and to their end; the same where nothing more is written. */
  readonly from: number;
  readonly to: number;
  /** The file goes on where the one that was asked for ends. */
  readonly follows: boolean;
  /** Without what was typed. */
  readonly text: string;
}

/** The files as they were committed, compared with what the commit or the task began from. */
export interface ReplayFiles {
  readonly files: readonly DiffFile[];
  readonly notes: readonly string[];
}
