import { exitCodeOf, reportOf, titleLine, verdictLine } from '../../doctor/report.js';
import { passedVariables } from '../../machines/machines.js';
import type { CommandContext } from '../command.js';
import { shownEntry } from '../doctor.js';
import { fittedLines } from '../terminal-text.js';
import { farDoctor, lineEntries } from './far-doctor.js';
import { machineSettings, settingOf } from './machine-settings.js';

/** Prints what the doctor there has found, behind what is known of the line. Resolves with 0, 1 (warnings) or 2 (errors). Throws as `farDoctor`. */
export async function checkMachine(
  name: string,
  { json = false, quick = false }: { readonly json?: boolean; readonly quick?: boolean },
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const { env, command, look, output } = context;
  const setting = settingOf(await machineSettings(context), name, command);
  const variables = passedVariables(setting.pass_environment, env);
  const shell = { name, command: setting.command, env, variables, signal };
  const found = await farDoctor(shell, setting.bridge, quick);
  const report = reportOf(found.report.version, [
    ...lineEntries(name, found, command),
    ...found.report.checks,
  ]);
  if (json) void output.write(`${JSON.stringify(report, null, 2)}\n`);
  else {
    let title = '';
    const lines = report.checks.map((entry) => {
      const next = entry.category === 'system' ? `\nThe machine ${name}\n` : titleLine(entry.category);
      const heading = next === title ? '' : look.paint('bold', next);
      title = next;
      return `${heading}${shownEntry(entry, look)}`;
    });
    void output.write(`${lines.join('')}${fittedLines(verdictLine(report), look)}`);
  }
  return exitCodeOf(report);
}
