import { z } from 'zod';
import type { ProcessRecord } from '../../processes/process-record.js';
import { within } from '../define-tool.js';

export const pidInput = z.string().max(100).describe('From spawn');

export const sizeInput = z.strictObject({ columns: within(1, 500), rows: within(1, 200) });

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
  const { process_id: pid, status, exit_code, signal } = record;
  const memory = record.out_of_memory ? 'It exceeded its memory limit and was killed.' : '';
  const reason = [memory, record.reason ?? ''].filter((words) => words !== '').join(' ');
  return { pid, status, exit_code, signal, ...(reason !== '' && { reason }) };
}

/** What a process has shown. */
export const shownOutput = {
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  screen: z.string().optional(),
};
