import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeJsonFileAtomically } from '../../base/files/json-file.js';
import { oneLine } from '../../base/text/text.js';
import { InteractiveDriver, type InteractiveDriverOptions } from '../interactive/interactive-driver.js';
import type { Launch, LaunchParts } from '../interactive/session-launch.js';
import { backgroundArguments } from '../launch.js';
import { BackgroundCli, type BackgroundPlace } from './background-cli.js';
import { BACKGROUND_FILE, type BackgroundFile } from './background-file.js';
import { BackgroundSession } from './background-session.js';
import { backgroundSettings } from './background-settings.js';
import {
  markVariable,
  placeVariables,
  serviceEnvironment,
  sessionVariables,
} from './background-variables.js';

const OWNER_ONLY = 0o600;
/** Of the prompt, in the name of the session. */
const TITLE_CHARS = 60;
const SETTINGS_FILE = 'background-settings.json';
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
  await writeFile(settingsFile, backgroundSettings(settings, sessionVariables(env, token)), {
    mode: OWNER_ONLY,
  });
  const backgroundFile = join(folder, BACKGROUND_FILE);
  const place: BackgroundPlace = { command: [...command], cwd, env: placeVariables(env) };
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
      launch: () => cli.launch(words, prompt, markVariable(env)),
      attach: (id) => openTerminal([...command, 'attach', id], serviceEnv),
    },
    (id) => writeJsonFileAtomically(backgroundFile, { ...file, id }),
  );
}
