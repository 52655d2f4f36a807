// Pure.
// The request to check a shell line, and its verdict. Both are passed between threads.
import { z } from 'zod';
import { approvalModes } from '../decide.js';

const answer = {
  verdict: z.enum(['allow', 'deny', 'ask']),
  rule: z.string(),
  reason: z.string(),
  /** Whether the rule applies is known only at run time. */
  isDoubt: z.literal(true).optional(),
};

const partVerdictSchema = z.object({
  ...answer,
  part: z.string(),
  /** 0 for a command of the line itself, 1 for a command that it runs, and so on. */
  depth: z.number(),
});

/** The verdict on one command of a line. */
export type PartVerdict = Readonly<z.infer<typeof partVerdictSchema>>;

/** `parts` is empty when the line did not have to be parsed. */
export const lineVerdictSchema = z.object({ ...answer, parts: z.array(partVerdictSchema) });

export type LineVerdict = Readonly<z.infer<typeof lineVerdictSchema>>;

/** What the thread is asked. */
export const lineRequestSchema = z.object({
  line: z.string(),
  mode: z.enum(approvalModes),
  /** Real path of the project. */
  projectPath: z.string(),
  /** Working directory of the shell; default: the project folder. */
  folder: z.string().optional(),
});

export type LineRequest = Readonly<z.infer<typeof lineRequestSchema>>;

/** The thread's message when it begins with a line. The next one is the verdict. */
export const READY = 'ready';

/** What the thread is started with. */
export const checkRulesSchema = z.object({
  rows: z.array(
    z.object({ rule: z.string(), verdict: z.enum(['allow', 'deny', 'ask']), reason: z.string() }),
  ),
  bases: z.object({ projectPath: z.string(), homeDir: z.string() }),
});
