import { dirname, join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { shellWord } from '../../base/text.js';
import { checkSandbox } from '../../claude/sandbox/check-sandbox.js';
import { chatClients } from '../../clients/chat-clients.js';
import { backupOf } from '../../clients/client-settings.js';
import { isThere, windowsHome } from '../../clients/find-clients.js';
import { defaultSettingsPath, stateDirectory } from '../../config/places.js';
import { findOnPath } from '../../os/find-on-path.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import {
  clientOf,
  clientsHere,
  planClients,
  printClient,
  removeClients,
  writeClients,
} from './init-clients.js';
import { planSettings, writePlan, type Init } from './init-settings.js';

/** The system on which all tests have been run; the README names the same. */
const TESTED_SYSTEM = 'linux-x64';

/**
 * Asks for the allowed roots and writes the settings file; adds the server to the clients that the user agrees to. All
 * questions come before anything is written, so Ctrl-C changes nothing. Returns the exit code. Throws Cancelled, CONFIG_ERROR,
 * INVALID_ARGUMENTS, PATH_NOT_FOUND.
 */
export async function runInit(given: Init): Promise<ExitCode> {
  const init = { ...given, windowsHome: await windowsHome(given.env) };
  try {
    if (init.print !== undefined) return await printClient(init, clientOf(init.print));
    if (init.remove !== true) return await planAndWrite(init);
    const isDone = await removeClients(init);
    await sayWhatIsLeft(init);
    return isDone ? exitCodes.done : exitCodes.failed;
  } catch (thrown) {
    if (thrown instanceof BridgeError || systemCodeOf(thrown) === undefined) throw thrown;
    throw new Error(`Not written: ${messageOf(thrown)}`, { cause: thrown });
  }
}

async function planAndWrite(init: Init): Promise<ExitCode> {
  const trouble = await sandboxTrouble(init);
  const settings = await planSettings(init, trouble === undefined);
  const { plans, leftOut } = await planClients(init);
  await writePlan(init, settings);
  await writeClients(init, plans);
  const how = `"default_permission_mode": "sandboxed" in ${init.settingsFile} makes it the mode of tasks without one`;
  if (settings.hasDefaultModes)
    init.write(
      trouble === undefined
        ? `Recommended: permission_mode "sandboxed". It works here: commands run without a question, and the kernel keeps them in the project. ${how}.`
        : `permission_mode "sandboxed" is recommended, but does not work here yet. ${trouble} Then ${how}.`,
    );
  await sayWhatIsNext(init, plans.length > 0);
  return init.client !== undefined && leftOut > 0 ? exitCodes.failed : exitCodes.done;
}

/** Why mode sandboxed does not work here; undefined where it does. */
async function sandboxTrouble({ platform, env }: Init): Promise<string | undefined> {
  try {
    await checkSandbox({ platform, env: { PATH: env['PATH'] ?? '' } });
    return undefined;
  } catch (error) {
    if (error instanceof BridgeError) return `${error.message} ${error.hint}`;
    throw error;
  }
}

/** Says whether Claude Code is there, and what is next: in a client that has the server, else how one gets it. */
async function sayWhatIsNext(init: Init, isAdded: boolean): Promise<void> {
  const { write, platform, env, command } = init;
  if ((await findOnPath('claude', env['PATH'])) === undefined)
    write('Claude Code was not found on PATH: install it, and run `claude` once in a terminal to log in.');
  if (`${platform}-${process.arch}` !== TESTED_SYSTEM)
    write(
      `The tests have been run on Linux (x64) only, not on ${platform}: please report what does not work.`,
    );
  write(
    'In the folder of a task the bridge itself writes only .claude/mcp-logs: its log and its prompt, hidden from git.',
  );
  if (isAdded) return write('Next, ask your client to delegate something to Claude Code.');
  const { having, without } = await clientsHere(init);
  write(
    having.length > 0
      ? `Next, restart the server in ${having.join(', ')}, which reads these settings when it starts. Then ask there to delegate something to Claude Code.`
      : `Next, add the server to your client:\n${command} init --client ${without.join(',') || '<client>'}\n${command} init --help lists the clients; --print shows the entry for who edits by hand.`,
  );
}

/** After the entries are gone: the settings and the records of tasks are the person's; they are named, and so is how to remove them. */
async function sayWhatIsLeft(init: Init): Promise<void> {
  const { env, homeDir, write } = init;
  const candidates = [
    dirname(defaultSettingsPath(homeDir)),
    stateDirectory({ state_dir: null }, { env, homeDir }),
    join(homeDir, '.cache', 'claude-code-bridge'),
    ...chatClients.flatMap((client) => client.settingsFiles(init)).map(backupOf),
  ];
  const left: string[] = [];
  for (const path of candidates) if (await isThere(path)) left.push(path);
  if (left.length === 0) return;
  write('The logs of tasks in .claude/mcp-logs of your projects stay.');
  write(
    `What is left of the bridge is yours: settings, logs and records of tasks, copies of older settings. To remove it, once no task runs:\nrm -r ${left.map((path) => shellWord(path, homeDir)).join(' ')}`,
  );
}
