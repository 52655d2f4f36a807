// Pure.
import { z } from 'zod';
import { PROCESS_ID_PATTERN } from '../base/ids.js';
import { processIdentitySchema } from '../store/process-place.js';

const RECORD_VERSION = 1;

export const sizeSchema = z.object({ columns: z.int().positive(), rows: z.int().positive() });

/** The contents of `record.json`. The environment of a process is not part of it, since that may hold secrets. */
export const processRecordSchema = z.object({
  version: z.literal(RECORD_VERSION),
  process_id: z.string().regex(PROCESS_ID_PATTERN),
  mode: z.enum(['host', 'docker']),
  /** Program and arguments, or the command line that a shell was given. */
  command_line: z.string(),
  cwd: z.string(),
  tty: sizeSchema.nullable(),
  /** It goes on without the server. */
  keep: z.boolean(),
  /** The process that runs it: a server or a keeper. */
  owner: processIdentitySchema,
  /** The secret in the environment of all that comes of it; null in a container, which is found by its name. */
  mark: z.string().nullable(),
  /** Where its keeper listens. */
  socket_path: z.string().nullable(),
  started_at: z.iso.datetime(),
  status: z.enum(['running', 'terminated']),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  out_of_memory: z.boolean(),
  reason: z.string().nullable(),
  ended_at: z.iso.datetime().nullable(),
  /** What a terminal showed at the end. */
  screen: z.string().nullable(),
});

export type ProcessRecord = Readonly<z.infer<typeof processRecordSchema>>;

/** What a record of a new process has in common with every other. */
export const freshRecord = {
  version: RECORD_VERSION,
  status: 'running',
  exit_code: null,
  signal: null,
  out_of_memory: false,
  reason: null,
  ended_at: null,
  screen: null,
} as const;
