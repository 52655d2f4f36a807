// Pure: the events of a recording (asciicast v2), with their times since its beginning.
import type { RecordingPiece } from '../../src/board/protocol.js';

/** More than any terminal of a task has. */
const MAX_SIDE = 2_000;
const MS = 1_000;
const FALLBACK_SIZE: Size = { columns: 80, rows: 24 };

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
  #file: string | undefined;
  #from = 0;
  #beganMs: number | undefined;
  /** When this file began, since the recording did. */
  #startMs = 0;
  #endMs = 0;
  /** The state with which a file begins that goes on where another one ended is what the terminal shows already. */
  #skipsState = false;

  /** Where the next piece is. */
  get place(): { readonly file?: string; readonly from: number } {
    return { ...(this.#file !== undefined && { file: this.#file }), from: this.#from };
  }

  /** In milliseconds since the epoch; undefined before anything was recorded. */
  get beganMs(): number | undefined {
    return this.#beganMs;
  }

  get endMs(): number {
    return this.#endMs;
  }

  /** The events of the next piece. Lines that are no events, and what was typed, are left out. */
  take({ file, from, to, follows, text }: RecordingPiece): readonly ReplayEvent[] {
    const lines = text.split('\n');
    const events: ReplayEvent[] = [];
    if (from === 0) events.push(this.#begin(lines.shift() ?? '', follows && this.#file !== undefined));
    this.#file = file;
    this.#from = to;
    for (const line of lines) {
      const event = this.#eventOf(line);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #begin(line: string, goesOn: boolean): ReplayEvent {
    const head = parseHead(line);
    this.#beganMs ??= head?.beganMs ?? 0;
    this.#startMs = Math.max(this.#endMs, head === undefined ? 0 : head.beganMs - this.#beganMs);
    this.#skipsState = goesOn;
    this.#endMs = this.#startMs;
    return { kind: goesOn ? 'resize' : 'begin', ms: this.#startMs, size: head?.size ?? FALLBACK_SIZE };
  }

  #eventOf(line: string): ReplayEvent | undefined {
    const event = parseEvent(line);
    if (event === undefined) return undefined;
    const isState = this.#skipsState && event.kind === 'output' && event.ms === 0;
    this.#skipsState = false;
    if (isState) return undefined;
    const ms = Math.max(this.#endMs, this.#startMs + event.ms);
    this.#endMs = ms;
    return { ...event, ms };
  }
}

function parseHead(line: string): { readonly size: Size; readonly beganMs: number } | undefined {
  const head = parsed(line);
  if (typeof head !== 'object' || head === null || !('width' in head) || !('height' in head))
    return undefined;
  const size = sizeOf(head.width, head.height);
  const seconds = 'timestamp' in head ? head.timestamp : undefined;
  // The same in milliseconds.
  const beganMs = 'began_ms' in head ? head.began_ms : undefined;
  if (size === undefined || typeof seconds !== 'number') return undefined;
  return { size, beganMs: typeof beganMs === 'number' ? beganMs : seconds * MS };
}

function parseEvent(line: string): ReplayEvent | undefined {
  const event: unknown = parsed(line);
  if (!Array.isArray(event)) return undefined;
  const [seconds, kind, text]: readonly unknown[] = event;
  if (typeof seconds !== 'number' || seconds < 0 || typeof text !== 'string') return undefined;
  const ms = Math.round(seconds * MS);
  if (kind === 'o') return { kind: 'output', ms, text };
  // As `100x30`.
  const [width, height] = kind === 'r' ? text.split('x').map(Number) : [];
  const size = sizeOf(width, height);
  return size && { kind: 'resize', ms, size };
}

function sizeOf(columns: unknown, rows: unknown): Size | undefined {
  const isSide = (side: unknown): side is number =>
    typeof side === 'number' && Number.isInteger(side) && side >= 1 && side <= MAX_SIDE;
  return isSide(columns) && isSide(rows) ? { columns, rows } : undefined;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // It is no event.
    return undefined;
  }
}
