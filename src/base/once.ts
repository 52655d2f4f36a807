// Pure: what is done once, however often it is asked for.
import type { z } from 'zod';

/**
 * Does the work of a call, and gives each other call with the same id the same outcome; without an id it is done each time. `asked`: the
 * name of the call and its arguments, as JSON. Before it has an effect, `act` puts down with `note` what has to be known when its process
 * dies. It gets back as `noted` what a dead process had put down: then it finds out whether that was done, and throws OUTCOME_UNKNOWN where
 * no one knows. Any other error means that nothing was done, but for one of the disk or of a keeper that does not answer.
 * Throws INVALID_ARGUMENTS for an id of another call, OUTCOME_UNKNOWN, STATE_UNUSABLE, and what `act` throws.
 */
export type Once = <Outcome, Note>(
  id: string | undefined,
  asked: object,
  shapes: { readonly outcome: z.ZodType<Outcome>; readonly note: z.ZodType<Note> },
  act: (note: (value: Note) => Promise<void>, noted?: Note) => Promise<Outcome>,
) => Promise<Outcome>;
