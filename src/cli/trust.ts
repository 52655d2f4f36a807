import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { BridgeError } from '../base/errors.js';
import { shownCharacters } from '../base/text.js';
import { editJson } from '../config/json-text.js';
import { loadConfig } from '../config/load-config.js';
import { readSettings, writeSettings } from '../config/settings-file.js';
import { changedSince, sleepingSettings, trustIn } from '../keeper/agent/project-settings.js';
import { AllowedRoots } from '../projects/allowed-roots.js';
import { isWithin } from '../projects/path-in-project.js';
import { requireOutsideTasks } from './command.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import type { Questions } from './questions.js';

export interface TrustOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly configPath?: string | undefined;
  /** The folder that was named; left out, the current one. */
  readonly path?: string | undefined;
  readonly remove?: boolean | undefined;
  readonly write: (text: string) => void;
  /** Undefined where there is no terminal. */
  readonly questions: Pick<Questions, 'confirm'> | undefined;
}

/**
 * Shows what a project's own configuration would run or change in careful tasks, and writes into the settings file that the person trusts it
 * as it is. Throws INSIDE_TASK, PATH_NOT_FOUND, CONFIG_ERROR, PROJECT_SETTINGS_UNREADABLE and Cancelled.
 */
export async function runTrust(options: TrustOptions): Promise<ExitCode> {
  const { env, homeDir, configPath, write, questions, remove = false } = options;
  await requireOutsideTasks(env, 'trust a project');
  const project = await realPathOf(resolve(options.path ?? '.'));
  const load = () => loadConfig({ env, cwd: process.cwd(), homeDir, configPath });
  const { config, source, defaultSource } = await load();
  const file = source ?? defaultSource;
  const before = config.projects[project]?.trust;
  if (remove) {
    if (before !== undefined) await change(file, project, undefined);
    const isLeft = (await load()).config.projects[project]?.trust !== undefined;
    const now = isLeft ? 'Still trusted, by another entry of the setting projects' : 'No longer trusted';
    write(`${before === undefined ? 'It was not trusted' : now}: ${project}\n`);
    return exitCodes.done;
  }
  const own = await sleepingSettings(project);
  if (own.files === undefined)
    throw neverTrusted(project, 'is made of too many files to be read by a person');
  const unreadable = changedSince(own.files, own.files).map(shownCharacters);
  if (unreadable.length > 0)
    throw neverTrusted(project, `has what cannot be hashed: ${unreadable.join(', ')}`);
  const changed = trustIn(own, before);
  if (own.leftOut.length === 0 || changed === 'trusted') {
    const why = own.leftOut.length === 0 ? 'the project configures nothing' : 'it is trusted as it is';
    write(`Nothing to trust: ${why}.\n`);
    return exitCodes.done;
  }
  write(`Tasks in ${project} would use, also in cautious and sandboxed, and outside of any sandbox:\n`);
  for (const name of own.leftOut) write(`  ${name}\n`);
  write('It is made of these files, which you should have read:\n');
  for (const name of Object.keys(own.files)) {
    const isOther = before !== undefined && changed.includes(name);
    write(`  ${shownCharacters(name)}${isOther ? '   changed since you trusted it' : ''}\n`);
  }
  if (questions === undefined)
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'Only a person can trust a project, and there is no terminal to ask in.',
      'Run the command in a terminal of your own.',
    );
  if (!(await questions.confirm('Trust all of it, as it is now?', false))) return exitCodes.done;
  // What was shown is what is written: if a file has changed meanwhile, the trust does not fit it.
  await change(file, project, own.files);
  write(
    `Written to ${file}. It counts for servers that are started from now on, while no file of it changes.\n`,
  );
  return exitCodes.done;
}

/**
 * At the end of `init`: asks about the current folder where it lies in an allowed root, is not the home directory, and configures
 * something. Throws as `runTrust`.
 */
export async function offerTrust(options: TrustOptions): Promise<void> {
  const { env, homeDir, configPath } = options;
  const project = await realPathOf(resolve(options.path ?? '.'));
  const { config } = await loadConfig({ env, cwd: project, homeDir, configPath });
  const { roots } = new AllowedRoots(config.allowed_roots, homeDir);
  if (project === homeDir || !roots.some((root) => isWithin(project, root))) return;
  const { leftOut } = await sleepingSettings(project);
  if (leftOut.length > 0) await runTrust({ ...options, path: project });
}

async function change(
  file: string,
  project: string,
  files: Readonly<Record<string, string>> | undefined,
): Promise<void> {
  const { text, mode } = await readSettings(file);
  const edit = { path: ['projects', project, 'trust'], value: files };
  await writeSettings(file, editJson(text, [edit]), mode);
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    throw new BridgeError('PATH_NOT_FOUND', `There is no folder ${path}.`, 'Name the folder of a project.');
  }
}

function neverTrusted(project: string, why: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `The configuration of ${project} ${why}.`,
    'It stays untrusted: tasks read its instructions, and use nothing else of it.',
  );
}
