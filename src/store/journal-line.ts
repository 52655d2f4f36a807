// Pure: one event of the journal as one line, and back.
import { z } from 'zod';
import { messageOf } from '../base/errors.js';
import { headBytes } from '../base/text/text.js';

/** One event. `seq` counts from 1 (a gap tells of events that were lost), `at` is ISO 8601 in UTC; the event's own fields stand beside them. */
export const journalEntrySchema = z.looseObject({
  seq: z.number().int().positive(),
  at: z.string(),
  type: z.string(),
});
export type JournalEntry = z.infer<typeof journalEntrySchema>;

export type JournalFields = Readonly<Record<string, unknown>>;

/** No line is longer, its newline counted: a reader needs no more memory than this for one. */
export const MAX_LINE_BYTES = 64 * 1024;
/** What a long text in an event is cut to when the event as a whole is too long. */
const CUT_TEXT_BYTES = 4 * 1024;
/** What is kept of an event that is too long even so: escaped twice, it still fits. */
const CUT_WHOLE_BYTES = 8 * 1024;

/**
 * The line of an event, newline included. `seq`, `at` and `type` cannot be overwritten by a field. An event that is too
 * long, or that JSON cannot hold, is cut and marked with `cut: true`; it is never left out.
 */
export function journalLine(seq: number, at: string, type: string, fields: JournalFields): string {
  const head = { seq, at, type };
  const whole = lineOf({ ...head, ...fields, ...head });
  if (typeof whole === 'string' && Buffer.byteLength(whole) <= MAX_LINE_BYTES) return whole;
  if (typeof whole !== 'string') return `${JSON.stringify({ ...head, cut: true, fault: whole.fault })}\n`;
  const cut = lineOf({ ...head, ...fields, ...head, cut: true }, cutText);
  if (typeof cut === 'string' && Buffer.byteLength(cut) <= MAX_LINE_BYTES) return cut;
  return `${JSON.stringify({ ...head, cut: true, fields: headBytes(whole, CUT_WHOLE_BYTES) })}\n`;
}

/** The entry of a line without its newline; undefined for one that is none (a disk's error, never a writer's). */
export function parseJournalLine(line: string): JournalEntry | undefined {
  try {
    return journalEntrySchema.safeParse(JSON.parse(line)).data;
  } catch {
    // Not JSON: the caller counts it.
    return undefined;
  }
}

function lineOf(
  entry: object,
  replacer?: (key: string, value: unknown) => unknown,
): string | { readonly fault: string } {
  try {
    return `${JSON.stringify(entry, replacer)}\n`;
  } catch (error) {
    return { fault: headBytes(messageOf(error), CUT_TEXT_BYTES) };
  }
}

function cutText(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || Buffer.byteLength(value) <= CUT_TEXT_BYTES) return value;
  return `${headBytes(value, CUT_TEXT_BYTES)}… [cut: ${Buffer.byteLength(value)} bytes in all]`;
}
