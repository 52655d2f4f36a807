import { VERSION } from '../base/package.js';
import { managedSettingsPlaces } from '../claude/own-settings.js';
import { allChecks } from '../doctor/all-checks.js';
import type { Category, DoctorParts, DoctorPlace, Status } from '../doctor/check.js';
import { rules } from '../doctor/checks/task.js';
import { makeContext } from '../doctor/make-context.js';
import { entryLines, exitCodeOf, reportOf, titleLine, verdictLine, type Entry } from '../doctor/report.js';
import { runChecks } from '../doctor/run-checks.js';
import type { CommandContext } from './command-context.js';
import { runDemo } from './demo/demo.js';
import { CLAUDE_VERSIONS } from './demo/fetch-claude.js';
import { exitCodes } from './exit-codes.js';
import { rulesContract } from './rules-contract.js';
import { fitted, type Look, type Style } from './terminal-text.js';

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
  flags: DoctorFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const { json = false, fix = false, quick = false } = flags;
  const { look, output } = context;
  const write = (text: string): void => void output.write(text);
  const whole = flags.rules === true ? [...allChecks, rules] : allChecks;
  const parts = makeContext(placeOf(context, signal), partsOf(context));
  const checks = quick ? whole.filter(({ category }) => category !== 'task') : whole;
  let category: Category | undefined;
  const show = (entry: Entry): void => {
    if (entry.category !== category) write(look.paint('bold', titleLine(entry.category)));
    category = entry.category;
    write(shownEntry(entry, look));
  };
  const entries = await runChecks(checks, parts, { fix, ...(!json && { onEntry: show }) });
  if (signal.aborted) return exitCodes.interrupted;
  const report = reportOf(VERSION, entries);
  write(json ? `${JSON.stringify(report, null, 2)}\n` : verdictLine(report));
  return exitCodeOf(report);
}

/** The lines of a check with its sign in a colour, broken at words; a command is pasted, and never broken. */
function shownEntry(entry: Entry, look: Look): string {
  const lines = entryLines(entry).split('\n');
  const fit = (line: string): string =>
    line.startsWith(COMMAND_INDENT) ? line : fitted(line, look, '      ');
  return lines
    .map(fit)
    .join('\n')
    .replace(/\S/, (sign) => look.paint(STYLES[entry.status], sign));
}

function placeOf(
  { env, homeDir, configPath, command, serverEntry }: CommandContext,
  signal: AbortSignal,
): DoctorPlace {
  return {
    ...{ env, homeDir, configPath, command, serverEntry, signal },
    cwd: process.cwd(),
    platform: process.platform,
    uid: process.getuid?.() ?? 0,
    managedSettings: managedSettingsPlaces,
    testedClaude: CLAUDE_VERSIONS,
  };
}

function partsOf({ env, serverEntry }: CommandContext): DoctorParts {
  return {
    tryTask: async (claude, signal) => {
      let report = '';
      const write = (text: string): void => void (report += text);
      const code = await runDemo({ write, serverEntry, env, claude, signal });
      return { ok: code === 0, report };
    },
    tryRules: (claude, signal) => rulesContract(claude, env['PATH'] ?? '', signal),
  };
}
