import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeJsonFileAtomically } from '../../base/files/json-file.js';
import { oneLine } from '../../base/text/text.js';
import { MARK_VARIABLE } from '../../os/mark-variable.js';
import { HOOK_TOKEN_VARIABLE } from '../hooks/hook-settings.js';
import { InteractiveDriver, type InteractiveDriverOptions } from '../interactive/interactive-driver.js';
import type { Launch, LaunchParts } from '../interactive/session-launch.js';
import { backgroundArguments } from '../launch.js';
import { BackgroundCli, type BackgroundPlace } from './background-cli.js';
import { BACKGROUND_FILE, type BackgroundFile } from './background-file.js';
import { BackgroundSession } from './background-session.js';
import { backgroundSettings } from './background-settings.js';

const OWNER_ONLY = 0o600;
/** The program by which Claude Code runs commands without the keys of the session. */
const SHELL_VARIABLE = 'CLAUDE_CODE_SHELL';
/** Of the prompt, in the name of the session. */
const TITLE_CHARS = 60;
const SETTINGS_FILE = 'background-settings.json';
/** Names that tell Claude Code who and where its person is; none of them is a key. */
const PLACE_VARIABLES = [
  'HOME',
  'PATH',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TMPDIR',
  'CLAUDE_CONFIG_DIR',
  'IS_SANDBOX',
];

export interface BackgroundDriverOptions extends Omit<InteractiveDriverOptions, 'launch'> {
  /** The first word of the session's name in Claude Code's agent view: no other session has it. */
  readonly name: string;
  readonly prompt: string;
}

/**
 * The driver of a session of `claude --bg`. Hooks report what it does and answer what it asks; a terminal with `claude attach` shows it and
 * takes messages. The person may attach as well and answer first.
 */
export function createBackgroundDriver(options: BackgroundDriverOptions): InteractiveDriver {
  const { env, killTree } = options;
  let session: BackgroundSession | undefined;
  const launch: Launch = async (parts) => {
    session = await start(options, parts);
    parts.onNotice(`In Claude Code: claude attach ${session.id}`);
    return { sessionId: session.sessionId, program: session, end: () => session?.end() ?? Promise.resolve() };
  };
  return new InteractiveDriver({
    ...options,
    env,
    launch,
    killTree: async () => {
      await session?.end();
      // What the session started carries the mark.
      await killTree(undefined);
    },
  });
}

async function start(
  options: BackgroundDriverOptions,
  { settings, token, openTerminal, onNotice, onRestarted }: LaunchParts,
): Promise<BackgroundSession> {
  const { command, cwd, env, clock, name, prompt, promptFile } = options;
  const folder = dirname(promptFile);
  const settingsFile = join(folder, SETTINGS_FILE);
  await writeFile(settingsFile, backgroundSettings(settings, variablesOf(env, token)), { mode: OWNER_ONLY });
  const backgroundFile = join(folder, BACKGROUND_FILE);
  const place: BackgroundPlace = { command: [...command], cwd, env: pick(env, PLACE_VARIABLES) };
  const file: BackgroundFile = { name, place };
  await writeJsonFileAtomically(backgroundFile, file);
  const serviceEnv = serviceEnvironment(env);
  const cli = new BackgroundCli({ ...place, env: serviceEnv });
  const words = backgroundArguments(options, settingsFile, `${name} ${oneLine(prompt, TITLE_CHARS)}`);
  return BackgroundSession.open(
    {
      cli,
      clock,
      name,
      onNotice,
      onRestarted,
      launch: () => cli.launch(words, prompt, pick(env, [MARK_VARIABLE])),
      attach: (id) => openTerminal([...command, 'attach', id], serviceEnv),
    },
    (id) => writeJsonFileAtomically(backgroundFile, { ...file, id }),
  );
}

function variablesOf(env: Readonly<Record<string, string>>, token: string): Record<string, string> {
  return { ...pick(env, [MARK_VARIABLE, SHELL_VARIABLE]), [HOOK_TOKEN_VARIABLE]: token };
}

/** Any command may start the service of all background sessions, which must not belong to this task: no variable of the task reaches it. */
function serviceEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const own = new Set([MARK_VARIABLE, SHELL_VARIABLE, HOOK_TOKEN_VARIABLE]);
  return Object.fromEntries(Object.entries(env).filter(([variable]) => !own.has(variable)));
}

function pick(env: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
