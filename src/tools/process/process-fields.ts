import { z } from 'zod';
import { someNames } from '../../base/text.js';
import type { CopyOutcome } from '../../processes/docker/copies/container-copies.js';
import type { ProcessRecord } from '../../processes/process-record.js';

const MAX_PID_CHARS = 100;

export const pidInput = z.string().max(MAX_PID_CHARS).describe('From spawn');

/** What every answer reports about a process. */
export const stateOutput = {
  pid: z.string(),
  status: z.enum(['running', 'terminated']),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  /** Where exit code and signal do not say it all. */
  reason: z.string().optional(),
};

export function stateView(record: ProcessRecord): z.input<z.ZodObject<typeof stateOutput>> {
  const reason = record.out_of_memory
    ? `It exceeded its memory limit and was killed.${record.reason === null ? '' : ` ${record.reason}`}`
    : record.reason;
  return {
    pid: record.process_id,
    status: record.status,
    exit_code: record.exit_code,
    signal: record.signal,
    ...(reason !== null && { reason }),
  };
}

/** What a process has shown. */
export const shownOutput = {
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  screen: z.string().optional(),
};

/** What a copy answers. */
export const copyOutput = {
  /** Where it is now. */
  path: z.string(),
  files: z.int(),
  folders: z.int(),
  size_bytes: z.int(),
  note: z.string().optional(),
};

export function copyView({ path, files, folders, bytes, secrets }: CopyOutcome) {
  const counted = { path, files, folders, size_bytes: bytes };
  if (secrets.length === 0) return counted;
  const names = someNames(secrets);
  const note = `Not copied, because their names indicate secrets: ${names}. Copy one by naming it as source.`;
  return { ...counted, note };
}
