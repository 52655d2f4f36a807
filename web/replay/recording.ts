// Pure: the events of a recording (asciicast v2), with their times since its beginning.
import type { RecordingPiece } from '../../src/board/protocol.js';
import { isFields, type Fields } from '../text/fields.js';

/** More than any terminal of a task has. */
const MAX_SIDE = 2_000;
const MS = 1_000;

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** `begin`: in a terminal that was just made. */
export type ReplayEvent =
  | { readonly kind: 'output'; readonly ms: number; readonly text: string }
  | { readonly kind: 'resize' | 'begin'; readonly ms: number; readonly size: Size };

/** Reads a recording piece by piece. */
export class RecordingReader {
  /** Where the next piece is. */
  place: { readonly file?: string; readonly from: number } = { from: 0 };
  /** In milliseconds since the epoch; undefined before anything was recorded. */
  beganMs: number | undefined;
  endMs = 0;
  /** When this file began, since the recording did. */
  #startMs = 0;
  /** The state with which a file begins that goes on where another one ended is what the terminal shows already. */
  #skipsState = false;

  /** The events of the next piece. Lines that are no events are left out; the board leaves out what is no JSON. */
  take({ file, from, to, follows, text }: RecordingPiece): readonly ReplayEvent[] {
    const lines = (text.match(/[^\n]+/g) ?? []).map((line): unknown => JSON.parse(line));
    const begin = from === 0 ? [this.#begin(lines.shift(), follows)] : [];
    this.place = { file, from: to };
    return [...begin, ...lines.flatMap((line) => this.#eventOf(line))];
  }

  #begin(line: unknown, follows: boolean): ReplayEvent {
    const head: Fields = isFields(line) ? line : {};
    // The same in milliseconds, and in seconds.
    const began = Number(head['began_ms'] ?? Number(head['timestamp'] ?? 0) * MS);
    this.beganMs ??= began;
    this.#startMs = this.endMs = Math.max(this.endMs, began - this.beganMs);
    this.#skipsState = follows;
    const size = sizeOf(head['width'], head['height']) ?? { columns: 80, rows: 24 };
    return { kind: follows ? 'resize' : 'begin', ms: this.#startMs, size };
  }

  #eventOf(event: unknown): ReplayEvent[] {
    const [seconds, kind, text]: readonly unknown[] = Array.isArray(event) ? event : [];
    if (typeof seconds !== 'number' || seconds < 0 || typeof text !== 'string') return [];
    // As `100x30`.
    const [width, height] = kind === 'r' ? text.split('x').map(Number) : [];
    const size = sizeOf(width, height);
    if (kind !== 'o' && size === undefined) return [];
    const isState = this.#skipsState && kind === 'o' && seconds === 0;
    this.#skipsState = false;
    if (isState) return [];
    const ms = (this.endMs = Math.max(this.endMs, this.#startMs + Math.round(seconds * MS)));
    return [size === undefined ? { kind: 'output', ms, text } : { kind: 'resize', ms, size }];
  }
}

function sizeOf(columns: unknown, rows: unknown): Size | undefined {
  const isSide = (side: unknown): side is number =>
    typeof side === 'number' && Number.isInteger(side) && side >= 1 && side <= MAX_SIDE;
  return isSide(columns) && isSide(rows) ? { columns, rows } : undefined;
}
