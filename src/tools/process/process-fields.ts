import { z } from 'zod';
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

export type ProcessState = z.input<z.ZodObject<typeof stateOutput>>;

export function stateView(record: ProcessRecord): ProcessState {
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
