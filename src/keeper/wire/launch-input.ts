// Pure: what a keeper reads from its stdin, once. It holds an environment: it is neither on disk nor shown in a list of processes.
import { z } from 'zod';
import { processSpecSchema } from '../../processes/process-handle.js';
import { processRecordSchema } from '../../processes/process-record.js';
import { engineSchema, taskSpecSchema } from '../../tasks/task-spec.js';

/** A task, with all that the server which starts it has found and taken for it. */
export const taskLaunchSchema = z.object({
  spec: taskSpecSchema,
  /** The secret in the environment of all processes of the task. */
  mark: z.string(),
  /** Of a program on this machine. */
  env: z.record(z.string(), z.string()),
  /** The program; left out, it is in the container. */
  program: z
    .object({ command: z.array(z.string()), isClaude: z.boolean(), version: z.string().exactOptional() })
    .optional(),
  /** The lease of the project, which the keeper owns by now; left out, the task needs none. */
  lease: z.string().optional(),
});
export type TaskLaunch = z.infer<typeof taskLaunchSchema>;

/** A process with `keep`. */
export const processLaunchSchema = z.object({
  record: processRecordSchema.extend({ socket_path: z.string() }),
  spec: processSpecSchema,
  shell: z.string(),
  maxOutputBytes: z.int().positive(),
  /** For a process in a container. */
  containers: z.object({ engine: engineSchema, ownerId: z.string(), image: z.string() }),
});
export type ProcessLaunch = z.infer<typeof processLaunchSchema>;
