// Pure: the lines of a recording (asciicast v2).
import { z } from 'zod';

/** More than any terminal of a task has. */
const MAX_SIDE = 2_000;
const MS = 1_000;

const sideSchema = z.int().min(1).max(MAX_SIDE);
const headSchema = z.object({
  version: z.literal(2),
  width: sideSchema,
  height: sideSchema,
  /** Whole seconds since the epoch. */
  timestamp: z.number().nonnegative(),
  /** The same in milliseconds; recordings of older bridges do not have it. */
  began_ms: z.number().nonnegative().optional(),
});
const eventSchema = z.tuple([z.number().nonnegative(), z.string(), z.string()]);

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface RecordedHead {
  readonly size: Size;
  /** Milliseconds since the epoch. */
  readonly beganMs: number;
}

export type RecordedEvent =
  | { readonly kind: 'output'; readonly ms: number; readonly text: string }
  | { readonly kind: 'resize'; readonly ms: number; readonly size: Size };

/** Undefined for a line that is no header. */
export function parseHead(line: string): RecordedHead | undefined {
  const head = headSchema.safeParse(parsed(line));
  if (!head.success) return undefined;
  const { width, height, timestamp, began_ms } = head.data;
  return { size: { columns: width, rows: height }, beganMs: began_ms ?? timestamp * MS };
}

/** Undefined for a line that is no event, and for what was typed, which is not shown. */
export function parseEvent(line: string): RecordedEvent | undefined {
  const event = eventSchema.safeParse(parsed(line));
  if (!event.success) return undefined;
  const [seconds, kind, text] = event.data;
  const ms = Math.round(seconds * MS);
  if (kind === 'o') return { kind: 'output', ms, text };
  const size = kind === 'r' ? parseSize(text) : undefined;
  return size && { kind: 'resize', ms, size };
}

/** As `100x30`. */
function parseSize(text: string): Size | undefined {
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(text) ?? [];
  const columns = sideSchema.safeParse(Number(width));
  const rows = sideSchema.safeParse(Number(height));
  return columns.success && rows.success ? { columns: columns.data, rows: rows.data } : undefined;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The schema reports that it is not what was asked for.
    return undefined;
  }
}
