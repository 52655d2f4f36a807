// What is asked about a shell line, and what comes of it; both pass between threads.
import { z } from 'zod';
import { approvalModes } from '../decide.js';

const answer = {
  verdict: z.enum(['allow', 'deny', 'ask']),
  rule: z.string(),
  reason: z.string(),
  /** Only the run will show whether the rule holds. */
  isDoubt: z.literal(true).optional(),
};

const partVerdictSchema = z.object({
  ...answer,
  part: z.string(),
  /** Commands in commands are deeper. */
  depth: z.number(),
});

/** What decides about one command of a line, and why. */
export type PartVerdict = Readonly<z.infer<typeof partVerdictSchema>>;

/** `parts` is empty when the line did not have to be read. */
export const lineVerdictSchema = z.object({ ...answer, parts: z.array(partVerdictSchema) });

export type LineVerdict = Readonly<z.infer<typeof lineVerdictSchema>>;

const lineRequestSchema = z.object({
  line: z.string(),
  mode: z.enum(approvalModes),
  /** Real path of the project. */
  projectPath: z.string(),
  /** Where the line begins; undefined when the session does not say: then it is taken for the project's own folder. */
  folder: z.string().optional(),
});

export type LineRequest = Readonly<z.infer<typeof lineRequestSchema>>;

/** The thread's first message: it has started. The second is the verdict. */
export const READY = 'ready';

/** What the thread is given. */
export const judgingSchema = z.object({
  request: lineRequestSchema,
  rows: z.array(
    z.object({ rule: z.string(), verdict: z.enum(['allow', 'deny', 'ask']), reason: z.string() }),
  ),
  places: z.object({ projectPath: z.string(), homeDir: z.string() }),
});
