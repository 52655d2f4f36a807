// Pure.
import { z } from 'zod';
import { categories, statuses } from './check.js';

/** One check of `doctor --json`. */
export const entrySchema = z.object({
  id: z.string().describe('Name of the check; the same in every version.'),
  category: z.enum(categories),
  status: z
    .enum(statuses)
    .describe(
      'ok; optional: missing and needed only for what the summary names; unchecked: the summary says why; warning; error: tasks fail.',
    ),
  summary: z.string().describe('One sentence.'),
  details: z.array(z.string()),
  remediation: z
    .string()
    .nullable()
    .describe('What to do, in one sentence; null when there is nothing to do.'),
  command: z.string().nullable().describe('The shell command that mends it; null where no single one does.'),
  fixed: z.string().nullable().describe('What --fix did.'),
  duration_ms: z.number(),
});
export type Entry = z.infer<typeof entrySchema>;

/** What `doctor --json` prints. Fields may be added. */
export const reportSchema = z.object({
  version: z.string().describe('Version of the bridge.'),
  status: z.enum(['ok', 'warning', 'error']).describe('The worst of all checks; the exit code is 0, 1 or 2.'),
  checks: z.array(entrySchema),
});
export type Report = z.infer<typeof reportSchema>;

/** The report of all entries; what is optional or was not checked makes it no worse. */
export function reportOf(version: string, checks: readonly Entry[]): Report {
  const has = (status: Entry['status']): boolean => checks.some((entry) => entry.status === status);
  const status = has('error') ? 'error' : has('warning') ? 'warning' : 'ok';
  return { version, status, checks: [...checks] };
}

const exitCodes = { ok: 0, warning: 1, error: 2 } as const;

export function exitCodeOf({ status }: Report): 0 | 1 | 2 {
  return exitCodes[status];
}
