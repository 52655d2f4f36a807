import { z } from 'zod';
import { processRecordSchema } from '../../processes/process-record.js';
import { engineSchema } from '../../tasks/task-spec.js';

/** The messages between a server and the keeper of a process, see Requests and KeeperPeer. */
export const PROCESS_PROTOCOL = 2;
/** Input is sent in pieces of this size, so that lines stay short. */
export const INPUT_PIECE_BYTES = 256 * 1024;

const id = z.int().positive();
const size = z.object({ columns: z.int().positive(), rows: z.int().positive() });

export const processRequestSchema = z.discriminatedUnion('method', [
  z.object({ id, method: z.literal('write'), bytes: z.base64() }),
  z.object({ id, method: z.literal('end_input') }),
  z.object({ id, method: z.literal('press'), keys: z.array(z.string()) }),
  z.object({ id, method: z.literal('resize'), size }),
  z.object({ id, method: z.literal('signal'), name: z.string(), tree: z.boolean() }),
  z.object({ id, method: z.literal('kill'), first: z.string() }),
  z.object({ id, method: z.literal('stats') }),
  z.object({ id, method: z.literal('printed') }),
  z.object({ id, method: z.literal('until_prints'), bytes: z.int().min(0), limit_ms: z.number().min(0) }),
  z.object({ id, method: z.literal('screen') }),
]);

export type ProcessRequest = z.infer<typeof processRequestSchema>;
/** A request before it has its number. */
export type ProcessMessage = ProcessRequest extends infer R
  ? R extends { id: number }
    ? Omit<R, 'id'>
    : never
  : never;

/** An answer: a value, whose schema the client knows by its request. */
export const processAnswerSchema = z.object({ value: z.unknown() });

/** What a keeper sends without a request: at the beginning, and when the process has ended. */
export const processPushSchema = z.object({
  push: z.literal('record'),
  protocol: z.int(),
  record: processRecordSchema,
});

const exitSchema = z.object({
  code: z.int().exactOptional(),
  signal: z.string().exactOptional(),
  outOfMemory: z.boolean(),
  reason: z.string().exactOptional(),
  endedAt: z.iso.datetime().transform((time) => new Date(time)),
});

export const killedSchema = z.object({ exit: exitSchema, left: z.int() });

export const statsSchema = z.object({
  systemPid: z.int().exactOptional(),
  cpuSeconds: z.number(),
  memoryBytes: z.number(),
  processCount: z.int(),
  listeningPorts: z.array(z.int()),
});

export const printedSchema = z.object({
  stdout: z.int().exactOptional(),
  stderr: z.int().exactOptional(),
  terminal: z.int().exactOptional(),
});

export const screenSchema = z.object({
  text: z.string(),
  cursor: z.object({ column: z.int(), row: z.int() }),
  size,
});

/** What a keeper reads from its stdin, once. */
export const keptLaunchSchema = z.object({
  record: processRecordSchema,
  spec: z.object({
    id: z.string(),
    command: z.tuple([z.string()], z.string()),
    cwd: z.string(),
    env: z.record(z.string(), z.string()),
    tty: size.exactOptional(),
    // For a container alone, as in DockerSpec.
    image: z.string().exactOptional(),
    network: z.string().exactOptional(),
    volume: z.string().exactOptional(),
    mountProject: z.string().exactOptional(),
  }),
  shell: z.string(),
  maxOutputBytes: z.int().positive(),
  /** For a process in a container. */
  containers: z.object({ engine: engineSchema, ownerId: z.string(), image: z.string() }).optional(),
});

export type KeptLaunch = z.infer<typeof keptLaunchSchema>;
