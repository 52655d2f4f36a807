import { dirname } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { jsonOf } from '../../base/input.js';
import { VERSION } from '../../base/package.js';
import { countedNoun, oneLine, shellWord, shownLine } from '../../base/text.js';
import { editJson } from '../../config/json-text.js';
import { loadConfig } from '../../config/load-config.js';
import { readEntries, writeSettings } from '../../config/settings-file.js';
import { exitCodeOf, reportOf, reportSchema, verdictLine, type Entry } from '../../doctor/report.js';
import { bridgeProgram } from '../../machines/bridge-start.js';
import type { Machine } from '../../machines/machine.js';
import { openMachines, passedVariables } from '../../machines/machines.js';
import type { CommandContext } from '../command.js';
import { entryPrinter, shownEntry } from '../doctor.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { fitted, fittedLines, padded, withCommand } from '../terminal-text.js';
import { failure, pasted, runThere, type FarShell } from './far-shell.js';
import { install, INSTALL_FOLDER, purge } from './install.js';
import { commandOfPlace, noMachine, requireMachineName } from './place.js';

const LIST_LIMIT_MS = 10_000;
const MAX_WHY_CHARS = 300;
/** More than run on one machine. */
const MAX_ACTIVE = 1_000;

/** The machines of the settings. Throws CONFIG_ERROR. */
async function settingsOf({ env, homeDir, configPath, command }: CommandContext) {
  const loaded = await loadConfig({ env, homeDir, configPath, cwd: process.cwd() });
  const { machines } = loaded.config;
  const file = loaded.source ?? loaded.defaultSource;
  const find = (name: string) => (Object.hasOwn(machines, name) ? machines[name] : undefined);
  return {
    ...{ machines, file, find },
    /** Throws MACHINE_NOT_FOUND. */
    get: (name: string) => {
      const found = find(name);
      if (found === undefined) throw noMachine(name, Object.keys(machines), command);
      return found;
    },
    /** Throws CONFIG_ERROR where a change of the file would change nothing. */
    requireFile: (): void => {
      const { machines: origin = file } = loaded.origins;
      if (origin.startsWith(file)) return;
      const message = `The setting machines is from the ${origin}, which counts instead of ${file}.`;
      throw new BridgeError('CONFIG_ERROR', message, 'Take it away there, or change it there.');
    },
    /** Writes the setting of one machine, or takes it out; comments and the layout of all else stay. Throws CONFIG_ERROR. */
    change: async (name: string, value: { readonly command: readonly string[] } | undefined) => {
      const { text, mode } = await readEntries(file);
      await writeSettings(file, editJson(text, [{ path: ['machines', name], value }]), mode);
    },
  };
}

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
  const settings = await settingsOf(context);
  const before = settings.find(name);
  const command = place.length === 0 ? settings.get(name).command : commandOfPlace(place);
  if (before === undefined) settings.requireFile();
  else if (pasted(before.command) !== pasted(command))
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `A machine is named ${name} already: ${pasted(before.command)}.`,
      `Use another name, or take that one out first: ${own} machines rm ${name}`,
    );
  const variables = passedVariables(before?.pass_environment, env);
  const shell = { machine: name, command, env, variables, signal };
  say(`Opening ${pasted(command)}`);
  const folder = await install(shell, dirname(dirname(serverEntry)), say);
  say('Checking what tasks need there.');
  const { checks } = await farReport(shell, before?.bridge, true);
  if (before === undefined) await settings.change(name, { command });
  const trouble = checks.filter(({ status }) => status === 'error' || status === 'warning');
  const what = `What is to be mended there; a command is one for a shell on ${name}:`;
  const lines = [
    `${name} ${before === undefined ? 'is added' : 'has this version'}: ${folder}`,
    trouble.length === 0 ? 'Nothing is missing there.' : what,
    ...trouble.map((entry) => shownEntry(entry, look).trimEnd()),
  ];
  const written = `Written to ${shellWord(settings.file, homeDir)}. It counts for servers that are started from now on.`;
  if (before === undefined) lines.push(written);
  void output.write(fittedLines(`${lines.join('\n')}\n`, look));
  return trouble.some(({ status }) => status === 'error') ? exitCodes.errorsFound : exitCodes.done;
}

/**
 * Takes a machine out of the settings; with `isPurge` removes the bridge there first. Throws MACHINE_NOT_FOUND, CONFIG_ERROR; with `isPurge`
 * INVALID_ARGUMENTS while something runs with it or another name is the same machine, and MACHINE_UNREACHABLE: then nothing is changed.
 */
export async function removeMachine(
  name: string,
  isPurge: boolean,
  context: CommandContext,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { env, look, output } = context;
  const settings = await settingsOf(context);
  const { command } = settings.get(name);
  settings.requireFile();
  if (isPurge) {
    await requireNoTwin(name, settings, context);
    await purge({ machine: name, command, env, signal });
  }
  await settings.change(name, undefined);
  const left = 'Its tasks, their records and your settings there stay.';
  const stays = `${name} is taken out. ${left} So does the bridge there; to remove it, once no task runs, run there:`;
  const text = isPurge
    ? `${name} is taken out, and the bridge there is removed. ${left}`
    : withCommand(stays, `rm -r ~/${INSTALL_FOLDER}`, look);
  void output.write(`${fittedLines(text, look)}\n`);
  return exitCodes.done;
}

/** Throws INVALID_ARGUMENTS where another name of the settings is the same machine and user, as far as it answers. */
async function requireNoTwin(
  name: string,
  settings: Awaited<ReturnType<typeof settingsOf>>,
  context: CommandContext,
): Promise<void> {
  const live = (await answersOf(settings, context)).flatMap((one) => (one.live ? [one] : []));
  const own = live.find((one) => one.name === name);
  const twin = live.find((one) => one.name !== name && one.state_id === own?.state_id);
  if (twin === undefined) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `${twin.name} is the same machine as ${name}, and needs the bridge there.`,
    `Nothing was changed. To take out the name alone: ${context.command} machines rm ${name}`,
  );
}

/** Prints what the doctor there has found, behind what is known of the line. Resolves with 0, 1 (warnings) or 2 (errors). Throws as `addMachine`. */
export async function checkMachine(
  name: string,
  { json = false, quick = false }: { readonly json?: boolean; readonly quick?: boolean },
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const { env, command: own, look, output } = context;
  const { command, bridge, pass_environment } = (await settingsOf(context)).get(name);
  const variables = passedVariables(pass_environment, env);
  const shell = { machine: name, command, env, variables, signal };
  const beganMs = performance.now();
  const { version, checks } = await farReport(shell, bridge, quick);
  const isSame = version === VERSION;
  const line: Entry = {
    ...{ id: 'line', category: 'system', status: isSame ? 'ok' : 'warning', details: [], fixed: null },
    summary: isSame
      ? `${name} answers; version ${VERSION} is there and here`
      : `${name} answers; version ${version} is there, and ${VERSION} is here`,
    remediation: isSame ? null : 'They work together in what both know. Bring this one there.',
    command: isSame ? null : `${own} machines add ${name}`,
    duration_ms: Math.round(performance.now() - beganMs),
  };
  const report = reportOf(version, [line, ...checks]);
  if (json) void output.write(`${JSON.stringify(report, null, 2)}\n`);
  else {
    report.checks.forEach(entryPrinter(context, `The machine ${name}`));
    void output.write(fittedLines(verdictLine(report), look));
  }
  return exitCodeOf(report);
}

/**
 * What the doctor of the bridge there finds, as text that drives no terminal; without what it says of chat clients, since none is needed there.
 * `quick`: without a whole task. Throws MACHINE_UNREACHABLE.
 */
async function farReport(shell: FarShell, bridge: readonly string[] | undefined, quick: boolean) {
  const { find, run } = bridgeProgram(shell.machine, bridge);
  const script = `${find}\n${run} doctor --json${quick ? ' --quick' : ''} </dev/null || [ $? -le 2 ]`;
  const failed = 'gave no report of its doctor';
  const text = await runThere(shell, script, { failed });
  // A file of the shell may print around it.
  const shown = (_key: string, value: unknown) => (typeof value === 'string' ? shownLine(value) : value);
  const json = jsonOf(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1), shown);
  const { data: report } = reportSchema.safeParse(json);
  if (report === undefined) throw failure(`${shell.machine} ${failed}.`);
  return { ...report, checks: report.checks.filter(({ category }) => category !== 'clients') };
}

/** Asks all machines of the settings at once, each for at most ten seconds, and prints what they say. */
export async function listMachines(json: boolean, context: CommandContext): Promise<ExitCode> {
  const { command: own, look, output } = context;
  const settings = await settingsOf(context);
  const answers = await answersOf(settings, context);
  const width = Math.max(0, ...answers.map(({ name }) => name.length));
  const indent = ' '.repeat(width + 2);
  const lines = answers.map(({ name, command, ...one }) => {
    const state = one.live
      ? `live: ${shownLine(one.hostname)}, version ${shownLine(one.version)}, ${countedNoun(one.tasks, 'task')} running`
      : `does not answer: ${one.why}`;
    const first = fitted(`${padded(name, width)}  ${shownLine(pasted(command))}`, look, indent);
    return `${first}\n${look.paint(one.live ? 'green' : 'red', fitted(`${indent}${state}`, look, indent))}`;
  });
  const none = withCommand('No machines. To add one:', `${own} machines add gpu ssh://me@gpu`, look);
  const text = `${(lines.length === 0 ? [none] : lines).join('\n')}\n`;
  void output.write(json ? `${JSON.stringify(answers, null, 2)}\n` : text);
  return exitCodes.done;
}

/** What all machines of the settings say, each asked for at most ten seconds. */
async function answersOf(settings: Awaited<ReturnType<typeof settingsOf>>, context: CommandContext) {
  const machines = openMachines({ ...context, config: settings });
  const asked = machines.all.map(async (machine) => ({
    ...{ name: machine.name, command: settings.get(machine.name).command },
    ...(await answerOf(machine)),
  }));
  return Promise.all(asked).finally(() => machines.dispose());
}

/** What a machine says when it is asked: two with the same `state_id` are one machine and one user. */
async function answerOf(machine: Machine) {
  try {
    const query = { status: 'active' as const, limit: MAX_ACTIVE };
    const { tasks } = await machine.call('task.list', query, { timeoutMs: LIST_LIMIT_MS, repeats: true });
    const { state } = machine;
    if (state.how !== 'live') return { live: false as const, why: 'the line was cut' };
    const { version, hostname, state_id } = state.far;
    return { live: true as const, version, hostname, tasks: tasks.length, state_id };
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    return { live: false as const, why: oneLine(error.data['why'] ?? error.message, MAX_WHY_CHARS) };
  }
}
