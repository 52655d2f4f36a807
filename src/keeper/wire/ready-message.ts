import { z } from 'zod';
import { wireErrorSchema } from './wire-error.js';

/** What a keeper writes to the pipe that its server reads: the record of what now runs, or the error. */
export const readyMessageSchema = z.union([
  z.object({ record: z.unknown() }).refine(({ record }) => record !== undefined),
  z.object({ error: wireErrorSchema }),
]);
export type ReadyMessage = z.infer<typeof readyMessageSchema>;

/** The descriptor of that pipe in the keeper. */
export const READY_FD = 3;
