import { dirname } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { shellWord } from '../../base/text.js';
import { entryLines, type Entry } from '../../doctor/report.js';
import { readEntries } from '../../config/settings-file.js';
import { passedVariables } from '../../machines/machines.js';
import type { CommandContext } from '../command.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { fittedLines, withCommand } from '../terminal-text.js';
import { farDoctor } from './far-doctor.js';
import { INSTALL_FOLDER } from './far-facts.js';
import type { FarShell } from './far-shell.js';
import { install, purge } from './install.js';
import { changeMachine, machineSettings, settingOf } from './machine-settings.js';
import { commandOfPlace, pasted, requireMachineName } from './place.js';

/**
 * Installs the bridge on a machine, has its doctor check it, and then writes the setting: after a failed step, or Ctrl-C, it is not there. Without a
 * place it brings this version to a machine of the settings. Resolves with `errorsFound` where tasks would fail there. Throws INVALID_ARGUMENTS,
 * MACHINE_NOT_FOUND, MACHINE_UNREACHABLE, CONFIG_ERROR.
 */
export async function addMachine(
  name: string,
  place: readonly string[],
  context: CommandContext,
  signal: AbortSignal,
): Promise<ExitCode> {
  requireMachineName(name);
  const { env, command: own, serverEntry, homeDir, look, output } = context;
  const say = (line: string): void => context.say(fittedLines(line, look));
  const settings = await machineSettings(context);
  const before = Object.hasOwn(settings.machines, name) ? settings.machines[name] : undefined;
  const given = place.length === 0 ? undefined : commandOfPlace(place);
  const command = given ?? settingOf(settings, name, own).command;
  if (before !== undefined && pasted(before.command) !== pasted(command))
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `A machine is named ${name} already: ${pasted(before.command)}.`,
      `Use another name, or take that one out first: ${own} machines rm ${name}`,
    );
  // A file that cannot be changed is found before the work.
  if (before === undefined) await readEntries(settings.file);
  const variables = passedVariables(before?.pass_environment, env);
  const shell: FarShell = { name, command, env, variables, signal };
  say(`Opening ${pasted(command)}`);
  const { folder } = await install(shell, dirname(dirname(serverEntry)), say);
  say('Checking what tasks need there.');
  const { report } = await farDoctor(shell, before?.bridge, true);
  if (before === undefined) await changeMachine(context, settings.file, name, { command });
  const trouble = report.checks.filter(({ status }) => status === 'error' || status === 'warning');
  const done = before === undefined ? 'is added' : 'has this version';
  const lines = [`${name} ${done}: ${folder}`, ...troubleLines(name, trouble)];
  if (before === undefined)
    lines.push(
      `Written to ${shellWord(settings.file, homeDir)}. It counts for servers that are started from now on.`,
    );
  void output.write(fittedLines(`${lines.join('\n')}\n`, look));
  return trouble.some(({ status }) => status === 'error') ? exitCodes.errorsFound : exitCodes.done;
}

function troubleLines(name: string, trouble: readonly Entry[]): string[] {
  if (trouble.length === 0) return ['Nothing is missing there.'];
  const what = `What is to be mended there; a command is one for a shell on ${name}:`;
  return [what, ...trouble.map((entry) => entryLines(entry).trimEnd())];
}

/**
 * Takes a machine out of the settings; with `isPurge` removes the bridge there first. Throws MACHINE_NOT_FOUND, CONFIG_ERROR; with `isPurge`
 * INVALID_ARGUMENTS while something runs with it, and MACHINE_UNREACHABLE: then nothing is changed.
 */
export async function removeMachine(
  name: string,
  isPurge: boolean,
  context: CommandContext,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { env, command: own, look, output } = context;
  const settings = await machineSettings(context);
  const { command } = settingOf(settings, name, own);
  if (isPurge) await purge({ name, command, env, signal });
  await changeMachine(context, settings.file, name, undefined);
  const left = 'Its tasks, their records and your settings there stay.';
  const text = isPurge
    ? `${name} is taken out, and the bridge there is removed. ${left}`
    : withCommand(
        `${name} is taken out. ${left} So does the bridge there; to remove it, once no task runs, run there:`,
        `rm -r ~/${INSTALL_FOLDER}`,
        look,
      );
  void output.write(`${fittedLines(text, look)}\n`);
  return exitCodes.done;
}
