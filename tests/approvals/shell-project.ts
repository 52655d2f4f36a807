import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkShellLine } from '../../src/approvals/shell/check-shell-line.js';
import type { LineVerdict } from '../../src/approvals/shell/line-verdict.js';
import { realLookup } from '../../src/approvals/path-lookup.js';
import { compileRules, type RuleRow } from '../../src/approvals/user-rules.js';
import type { ApprovalMode } from '../../src/approvals/decide.js';

/** A project for lines to be judged in; see command-lines.ts for what lies in it. */
export async function shellProject(folder: string): Promise<string> {
  const project = join(await realpath(folder), 'project');
  await mkdir(join(project, '.git'), { recursive: true });
  await mkdir(join(project, 'src'));
  await writeFile(join(project, 'src', 'a.ts'), '');
  await writeFile(join(project, 'package.json'), '{}');
  await writeFile(join(project, '.env'), '');
  await symlink('/etc', join(project, 'out'));
  await symlink('/etc/passwd', join(project, 'src', 'loop.ts'));
  return project;
}

/** What the rules say of a line. */
export function judgeLine(
  project: string,
  line: string,
  mode: ApprovalMode,
  rows: readonly RuleRow[] = [],
): Promise<LineVerdict> {
  const rules = compileRules(rows, { projectPath: project, homeDir: '/home/me' });
  return checkShellLine({ line, mode, projectPath: project, folder: project }, rules, realLookup);
}

/** A rule with a reason that names it. */
export function row(rule: string, verdict: RuleRow['verdict']): RuleRow {
  return { rule, verdict, reason: `because of ${rule}` };
}
