// Pure: the report of the doctor, for programs and for a person.
import { z } from 'zod';
import { categories, statuses, type Category, type Status } from './check.js';

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

const SIGNS: Readonly<Record<Status, string>> = {
  ok: '✓',
  optional: '·',
  unchecked: '?',
  warning: '!',
  error: '✗',
};

const TITLES: Readonly<Record<Category, string>> = {
  system: 'This machine',
  settings: 'Settings of the bridge',
  claude: 'Claude Code',
  state: 'State',
  clients: 'Clients',
  optional: 'Optional',
  task: 'A whole task',
};

/** The title of a category, with an empty line before it. `machine`: that of the system, where it is not this machine. */
export function titleLine(category: Category, machine = TITLES.system): string {
  return `\n${category === 'system' ? machine : TITLES[category]}\n`;
}

/** The lines of one check, each with its line end. */
export function entryLines({ status, summary, details, remediation, command, fixed }: Entry): string {
  const isTrouble = status === 'warning' || status === 'error';
  const lines = [`${SIGNS[status]} ${summary}`];
  // An error of several lines stays below its check.
  for (const detail of details) lines.push(...detail.split('\n').map((line) => `    ${line}`));
  if (fixed !== null) lines.push(`    Fixed: ${fixed}`);
  if (isTrouble && remediation !== null) lines.push(`    → ${remediation}`);
  if (isTrouble && command !== null) lines.push(`      ${command}`);
  return `${lines.map((line) => `  ${line}`).join('\n')}\n`;
}

/** The last line. */
export function verdictLine({ status, checks }: Report): string {
  const count = (wanted: Status): number => checks.filter((entry) => entry.status === wanted).length;
  const parts = [
    counted(count('error'), 'error', 'errors'),
    counted(count('warning'), 'warning', 'warnings'),
    counted(count('unchecked'), 'check was not possible', 'checks were not possible'),
  ].filter((part) => part !== undefined);
  const tail = parts.length === 0 ? '' : `${parts.join(', ')}. `;
  return `\n${tail}${status === 'ok' ? 'Nothing needs to be mended.' : 'Each line with → says what mends it.'}\n`;
}

function counted(count: number, one: string, many: string): string | undefined {
  return count === 0 ? undefined : `${count} ${count === 1 ? one : many}`;
}
