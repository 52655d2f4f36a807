// What the board and the thread that reads a recording say to each other.
import { z } from 'zod';

const ms = z.number().nonnegative();
export const placeSchema = z.object({ part: z.int().nonnegative(), offset: z.int().nonnegative(), ms });
const id = z.int();

export const threadDataSchema = z.object({ path: z.string() });

export const threadRequestSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('look'), id }),
  z.object({ type: z.literal('seek'), id, ms }),
  z.object({ type: z.literal('read'), id, from: placeSchema }),
]);
export type ThreadRequest = z.infer<typeof threadRequestSchema>;

const progressSchema = z.object({
  began_ms: z.number().nullable(),
  first_ms: ms,
  ready_ms: ms,
  /** Those that were found since the last progress. */
  pauses: z.array(z.tuple([ms, ms])),
});
export type ThreadProgress = z.infer<typeof progressSchema>;

export const threadMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), progress: progressSchema }),
  z.object({ type: z.literal('answer'), id, answer: z.unknown() }),
  z.object({ type: z.literal('failed'), id, why: z.string() }),
]);
export type ThreadMessage = z.infer<typeof threadMessageSchema>;

export const screenAtSchema = z.object({
  at_ms: ms,
  columns: z.int(),
  rows: z.int(),
  state: z.string(),
  next: placeSchema,
});

export const pieceSchema = z.object({
  events: z.array(z.tuple([ms, z.enum(['output', 'resize', 'begin']), z.string()])),
  next: placeSchema,
});
