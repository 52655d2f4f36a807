// Pure: the report of the doctor for a person.
import type { Category, Status } from './check.js';
import type { Entry, Report } from './report.js';

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

/** The title of a category, with an empty line before it. */
export function titleLine(category: Category): string {
  return `\n${TITLES[category]}\n`;
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
