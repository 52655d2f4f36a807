// Pure: what is done once, however often it is asked for.
import type { z } from 'zod';

/** Both values are JSON, and are checked when they are read. */
export interface OnceWork<Outcome, Note> {
  readonly outcome: z.ZodType<Outcome>;
  readonly note: z.ZodType<Note>;
  /**
   * Does it. Before it has an effect it calls `note` with what the next process has to know when this one dies. An error means that
   * nothing was done, but for one of the disk or of a keeper that does not answer.
   */
  act(note: (value: Note) => Promise<void>): Promise<Outcome>;
  /**
   * The process that noted this has died. What came of it; undefined where it was surely not done, and may be done now. Throws
   * OUTCOME_UNKNOWN.
   */
  resume(noted: Note): Promise<Outcome | undefined>;
}

/**
 * Does the work of a call, and gives each other call with the same id the same outcome. `asked`: the arguments of the call, as JSON, and
 * its name. Without an id the work is done each time. Throws INVALID_ARGUMENTS for an id that was used for another call, OUTCOME_UNKNOWN,
 * STATE_UNUSABLE, and what the work throws.
 */
export type Once = <Outcome, Note>(
  id: string | undefined,
  asked: object,
  work: OnceWork<Outcome, Note>,
) => Promise<Outcome>;
