import { dirname, join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { checkSandbox } from '../../claude/sandbox/check-sandbox.js';
import { shellWord } from '../../base/text.js';
import type { ClientPlace } from '../../clients/chat-client.js';
import { chatClients } from '../../clients/chat-clients.js';
import { backupOf } from '../../clients/client-settings.js';
import { SERVER_NAME } from '../../clients/server-command.js';
import { isThere, windowsHome } from '../../clients/find-clients.js';
import { defaultSettingsPath, stateDirectory } from '../../config/places.js';
import { findOnPath } from '../../os/find-on-path.js';
import { exitCodeOfError, exitCodes } from '../exit-codes.js';
import {
  clientOf,
  clientsHere,
  planClients,
  printClient,
  removeClients,
  writeClients,
  type ClientPlan,
} from './init-clients.js';
import { planSettings, writePlan } from './init-settings.js';
import { Cancelled, type InitIo, type InitOptions } from './questions.js';

/** The system on which all tests have been run; the README names the same. */
const TESTED_SYSTEM = 'linux-x64';

/**
 * Asks for the allowed roots and writes the settings file; adds the server to the clients that the user agrees to. All
 * questions come before anything is written, so Ctrl-C changes nothing. Returns the exit code.
 */
export async function runInit(options: InitOptions): Promise<number> {
  const { io } = options;
  try {
    return await planAndWrite(options);
  } catch (thrown) {
    if (thrown instanceof Cancelled) {
      io.writeError('Cancelled: nothing was written.');
      return exitCodes.interrupted;
    }
    if (thrown instanceof BridgeError) io.writeError(`${thrown.code}: ${thrown.message}\n${thrown.hint}`);
    else if (systemCodeOf(thrown) !== undefined) io.writeError(`Not written: ${messageOf(thrown)}`);
    else throw thrown;
    return exitCodeOfError(thrown);
  }
}

async function planAndWrite(options: InitOptions): Promise<number> {
  const { io, platform, homeDir, env = {}, client: clients, serverCommand } = options;
  const place: ClientPlace = { platform, homeDir, env, windowsHome: await windowsHome(env) };
  if (options.print !== undefined) {
    await printClient(io, clientOf(options.print), serverCommand, place);
    return exitCodes.done;
  }
  if (options.remove === true) {
    const isDone = await removeClients(io, place, clients);
    await sayWhatIsLeft(io, place);
    return isDone ? exitCodes.done : exitCodes.failed;
  }
  const path = env['PATH'];
  const trouble = path === undefined ? 'PATH is not set.' : await sandboxTrouble(platform, path);
  const settings = await planSettings(options, trouble === undefined);
  const { plans, leftOut } = await planClients({ ...options, place });
  await writePlan(options, settings);
  await writeClients({ ...options, place }, plans);
  if (path !== undefined) {
    if (settings.hasDefaultModes) recommendSandbox(options, trouble);
    await sayWhatIsNext(options, path, place, plans);
  }
  return clients !== undefined && leftOut > 0 ? exitCodes.failed : exitCodes.done;
}

/** Why mode sandboxed does not work here; undefined where it does. */
async function sandboxTrouble(platform: NodeJS.Platform, path: string): Promise<string | undefined> {
  try {
    await checkSandbox({ platform, env: { PATH: path } });
    return undefined;
  } catch (error) {
    if (error instanceof BridgeError) return `${error.message} ${error.hint}`;
    throw error;
  }
}

/** For settings without modes: what mode sandboxed is good for, and how to take it. */
function recommendSandbox({ io, homeDir, configPath }: InitOptions, trouble: string | undefined): void {
  const file = configPath ?? defaultSettingsPath(homeDir);
  const how = `"default_permission_mode": "sandboxed" in ${file} makes it the mode of tasks without one`;
  io.write(
    trouble === undefined
      ? `Recommended: permission_mode "sandboxed". It works here: commands run without a question, and the kernel keeps them in the project. ${how}.`
      : `permission_mode "sandboxed" is recommended, but does not work here yet. ${trouble} Then ${how}.`,
  );
}

/** Says whether Claude Code is there, and what is next: in a client that has the server, else how one gets it. */
async function sayWhatIsNext(
  { io, platform, command = SERVER_NAME }: InitOptions,
  path: string,
  place: ClientPlace,
  plans: readonly ClientPlan[],
): Promise<void> {
  if ((await findOnPath('claude', path)) === undefined)
    io.write('Claude Code was not found on PATH: install it, and run `claude` once in a terminal to log in.');
  if (`${platform}-${process.arch}` !== TESTED_SYSTEM)
    io.write(
      `The tests have been run on Linux (x64) only, not on ${platform}: please report what does not work.`,
    );
  io.write(
    'In the folder of a task the bridge itself writes only .claude/mcp-logs: its log and its prompt, hidden from git.',
  );
  if (plans.length > 0) return io.write('Next, ask your client to delegate something to Claude Code.');
  const { having, without } = await clientsHere(place);
  if (having.length > 0)
    return io.write(
      `Next, restart the server in ${having.join(', ')}, which reads these settings when it starts. Then ask there to delegate something to Claude Code.`,
    );
  io.write(
    `Next, add the server to your client:\n${command} init --client ${without.join(',') || '<client>'}\n${command} init --help lists the clients; --print shows the entry for who edits by hand.`,
  );
}

/** After the entries are gone: the settings and the records of tasks are the person's; they are named, and so is how to remove them. */
async function sayWhatIsLeft(io: InitIo, place: ClientPlace): Promise<void> {
  const { env, homeDir } = place;
  const candidates = [
    dirname(defaultSettingsPath(homeDir)),
    stateDirectory({ state_dir: null }, { env, homeDir }),
    join(homeDir, '.cache', 'claude-code-bridge'),
    ...chatClients.flatMap((client) => client.settingsFiles(place)).map(backupOf),
  ];
  const left: string[] = [];
  for (const path of candidates) if (await isThere(path)) left.push(path);
  if (left.length === 0) return;
  io.write('The logs of tasks in .claude/mcp-logs of your projects stay.');
  io.write(
    `What is left of the bridge is yours: settings, logs and records of tasks, copies of older settings. To remove it, once no task runs:\nrm -r ${left.map((path) => shellWord(path, homeDir)).join(' ')}`,
  );
}
