import { VERSION } from '../base/package.js';
import { managedSettingsPlaces } from '../claude/own-settings.js';
import { allChecks } from '../doctor/all-checks.js';
import type { Category, Status } from '../doctor/check.js';
import { rules } from '../doctor/checks/task.js';
import { makeContext } from '../doctor/make-context.js';
import { entryLines, exitCodeOf, reportOf, titleLine, verdictLine, type Entry } from '../doctor/report.js';
import { runChecks } from '../doctor/run-checks.js';
import type { CommandContext } from './command.js';
import { runDemo } from './demo/demo.js';
import { CLAUDE_VERSIONS } from './demo/fetch-claude.js';
import { exitCodes } from './exit-codes.js';
import { rulesContract } from './rules-contract.js';
import { fitted, fittedLines, type Look, type Style } from './terminal-text.js';

/** Before the command that mends something. */
const COMMAND_INDENT = ' '.repeat(8);
const STYLES: Readonly<Record<Status, Style>> = {
  ok: 'green',
  optional: 'dim',
  unchecked: 'yellow',
  warning: 'yellow',
  error: 'red',
};

export interface DoctorFlags {
  readonly json?: boolean;
  readonly fix?: boolean;
  readonly quick?: boolean;
  readonly rules?: boolean;
}

/** Prints what was checked, each line as soon as it is known, or one JSON value. Resolves with 0, 1 (warnings) or 2 (errors). */
export async function runDoctor(
  { json = false, fix = false, quick = false, rules: withRules = false }: DoctorFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const { env, homeDir, configPath, command, serverEntry, look, output } = context;
  const write = (text: string): void => void output.write(text);
  const place = {
    ...{ env, homeDir, configPath, command, serverEntry, signal },
    cwd: process.cwd(),
    platform: process.platform,
    uid: process.getuid?.() ?? 0,
    managedSettings: managedSettingsPlaces,
    testedClaude: CLAUDE_VERSIONS,
  };
  const parts = makeContext(place, {
    tryTask: async (claude, stopped) => {
      let report = '';
      const take = (text: string): void => void (report += text);
      const code = await runDemo({ write: take, serverEntry, env, claude, signal: stopped });
      return { ok: code === 0, report };
    },
    tryRules: (claude, stopped) => rulesContract(claude, env['PATH'] ?? '', stopped),
  });
  const whole = withRules ? [...allChecks, rules] : allChecks;
  const checks = quick ? whole.filter(({ category }) => category !== 'task') : whole;
  const show = entryPrinter(context);
  const entries = await runChecks(checks, parts, { fix, ...(!json && { onEntry: show }) });
  if (signal.aborted) return exitCodes.interrupted;
  const report = reportOf(VERSION, entries);
  write(json ? `${JSON.stringify(report, null, 2)}\n` : fittedLines(verdictLine(report), look));
  return exitCodeOf(report);
}

/** Prints one check after the other, those of a category below its title. `machine`: the title of the system, where it is not this machine. */
export function entryPrinter(
  { look, output }: Pick<CommandContext, 'look' | 'output'>,
  machine?: string,
): (entry: Entry) => void {
  let category: Category | undefined;
  return (entry) => {
    const title = entry.category === category ? '' : look.paint('bold', titleLine(entry.category, machine));
    category = entry.category;
    void output.write(`${title}${shownEntry(entry, look)}`);
  };
}

/** The lines of a check with its sign in a colour, broken at words; a command is pasted, and never broken. */
export function shownEntry(entry: Entry, look: Look): string {
  const fit = (line: string): string =>
    line.startsWith(COMMAND_INDENT) ? line : fitted(line, look, '      ');
  const lines = entryLines(entry).split('\n').map(fit);
  return lines.join('\n').replace(/\S/, (sign) => look.paint(STYLES[entry.status], sign));
}
