// Pure: writes and parses one line of the journal.
import { z } from 'zod';
import { messageOf } from '../base/errors.js';
import { headBytes } from '../base/text.js';

/** One event. `seq` counts from 1 (a gap means lost events), `at` is ISO 8601 in UTC; the event's own fields are next to them. */
const journalEntrySchema = z.looseObject({
  seq: z.number().int().positive(),
  at: z.string(),
  type: z.string(),
});
export type JournalEntry = z.infer<typeof journalEntrySchema>;

export type JournalFields = Readonly<Record<string, unknown>>;

/** The longest line with its newline, and so the memory that a reader needs for one. */
export const MAX_LINE_BYTES = 64 * 1024;
/** The length to which each long text of a too long event is cut. */
const CUT_TEXT_BYTES = 4 * 1024;
/** The part that is stored of an event that is still too long: it fits even when escaped twice. */
const CUT_WHOLE_BYTES = 8 * 1024;

/**
 * The line of an event with its newline. No field can overwrite `seq`, `at` and `type`. An event that is too long, or that JSON
 * cannot represent, is cut and gets `cut: true`; it is never left out.
 */
export function journalLine(seq: number, at: string, type: string, fields: JournalFields): string {
  const head = { seq, at, type };
  const whole = lineOf({ ...head, ...fields, ...head });
  if (typeof whole === 'string' && Buffer.byteLength(whole) <= MAX_LINE_BYTES) return whole;
  if (typeof whole !== 'string') return `${JSON.stringify({ ...head, cut: true, fault: whole.error })}\n`;
  const cut = lineOf({ ...head, ...fields, ...head, cut: true }, cutText);
  if (typeof cut === 'string' && Buffer.byteLength(cut) <= MAX_LINE_BYTES) return cut;
  return `${JSON.stringify({ ...head, cut: true, fields: headBytes(whole, CUT_WHOLE_BYTES) })}\n`;
}

/** Parses a line without its newline; undefined for one that is not an entry (which only a failing disk produces). */
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
): string | { readonly error: string } {
  try {
    return `${JSON.stringify(entry, replacer)}\n`;
  } catch (error) {
    return { error: headBytes(messageOf(error), CUT_TEXT_BYTES) };
  }
}

function cutText(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || Buffer.byteLength(value) <= CUT_TEXT_BYTES) return value;
  return `${headBytes(value, CUT_TEXT_BYTES)}… [cut: ${Buffer.byteLength(value)} bytes in all]`;
}
