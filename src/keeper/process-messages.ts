import { z } from 'zod';
import { processRecordSchema } from '../processes/process-record.js';
import type { ProcessFaultCode } from '../processes/result.js';

/** The protocol of the socket of a kept process: one JSON object a line. */
export const PROCESS_PROTOCOL = 1;
/** Input goes in pieces of this size, so that no line is long. */
export const INPUT_PIECE_BYTES = 256 * 1024;

const id = z.int().positive();
const size = z.object({ columns: z.int().positive(), rows: z.int().positive() });

export const processWishSchema = z.discriminatedUnion('method', [
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

export type ProcessWish = z.infer<typeof processWishSchema>;

const faultCodes: Readonly<Record<ProcessFaultCode, true>> = {
  NOT_FOUND: true,
  PROGRAM_NOT_FOUND: true,
  SPAWN_FAILED: true,
  NOT_RUNNING: true,
  UNREACHABLE: true,
  INPUT_CLOSED: true,
  INPUT_FULL: true,
  NO_TERMINAL: true,
  UNKNOWN_NAME: true,
  BACKEND_UNAVAILABLE: true,
  IMAGE_NOT_FOUND: true,
  COPY_REFUSED: true,
  COPY_FAILED: true,
};

function isFaultCode(code: string): code is ProcessFaultCode {
  return Object.hasOwn(faultCodes, code);
}

export const processFaultSchema = z.object({
  // A keeper of another version may know more.
  code: z.string().transform((code): ProcessFaultCode => (isFaultCode(code) ? code : 'SPAWN_FAILED')),
  message: z.string(),
  hint: z.string(),
});

/** What a keeper answers: a value, which whoever asked knows how to read, or a fault. */
export const processReplySchema = z.union([
  z.object({ id, value: z.unknown() }),
  z.object({ id, fault: processFaultSchema }),
]);

/** What a keeper says unasked: at the beginning, and when the process has ended. */
export const processPushSchema = z.object({
  push: z.literal('record'),
  protocol: z.int(),
  record: processRecordSchema,
});

export const exitSchema = z
  .object({
    code: z.int().optional(),
    signal: z.string().optional(),
    outOfMemory: z.boolean(),
    reason: z.string().optional(),
    endedAt: z.iso.datetime(),
  })
  .transform(({ code, signal, reason, outOfMemory, endedAt }) => ({
    ...(code !== undefined && { code }),
    ...(signal !== undefined && { signal }),
    ...(reason !== undefined && { reason }),
    outOfMemory,
    endedAt: new Date(endedAt),
  }));

export const killedSchema = z.object({ exit: exitSchema, left: z.int() });

export const statsSchema = z
  .object({
    systemPid: z.int().optional(),
    cpuSeconds: z.number(),
    memoryBytes: z.number(),
    processCount: z.int(),
    listeningPorts: z.array(z.int()),
  })
  .transform(({ systemPid, ...stats }) => ({ ...stats, ...(systemPid !== undefined && { systemPid }) }));

export const printedSchema = z
  .object({
    bytes: z.object({
      stdout: z.int().optional(),
      stderr: z.int().optional(),
      terminal: z.int().optional(),
    }),
    lostBytes: z.int(),
  })
  .transform(({ bytes: { stdout, stderr, terminal }, lostBytes }) => ({
    bytes: {
      ...(stdout !== undefined && { stdout }),
      ...(stderr !== undefined && { stderr }),
      ...(terminal !== undefined && { terminal }),
    },
    lostBytes,
  }));

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
    tty: size.optional(),
    // For a container alone, as in DockerSpec.
    image: z.string().optional(),
    network: z.string().optional(),
    volume: z.string().optional(),
    mountProject: z.string().optional(),
  }),
  shell: z.string(),
  maxOutputBytes: z.int().positive(),
  /** For a process in a container. */
  containers: z
    .object({
      engine: z.object({
        host: z.string().nullable(),
        certPath: z.string().nullable(),
        tlsVerify: z.boolean(),
      }),
      homeDir: z.string(),
      ownerId: z.string(),
      image: z.string(),
    })
    .optional(),
});

/** What a keeper writes to the pipe on which its server waits: it runs, or why not. */
export const keptReadySchema = z.union([
  z.object({ record: processRecordSchema }),
  z.object({ fault: processFaultSchema }),
]);
