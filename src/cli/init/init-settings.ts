import { mkdir } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { approvalModes, type ApprovalMode } from '../../approvals/modes.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import type { ClientPlace } from '../../clients/chat-client.js';
import type { ServerCommand } from '../../clients/server-command.js';
import { editJson, type JsonEdit } from '../../config/json-text.js';
import { folderFault, loadConfig } from '../../config/load-config.js';
import { expandHome } from '../../config/places.js';
import { configSchema } from '../../config/schema.js';
import { leftAsItIs, readEntries, readSettings, writeSettings } from '../../config/settings-file.js';
import { isWithin } from '../../projects/path-in-project.js';
import type { Choice, Questions } from '../questions.js';
import { askChecks } from './init-checks.js';

/** The options of the command line. */
export interface InitFlags {
  /** Folders separated by commas, instead of the question; they are added to the existing ones. */
  readonly roots?: string;
  /** Ids of clients that get the entry without a question; `all` is every one that is installed. */
  readonly client?: readonly string[];
  /** Replaces another entry without a question, and asks no other question. */
  readonly yes?: boolean;
  /** Removes the entries instead. */
  readonly remove?: boolean;
  /** Shows the entry for that client instead. */
  readonly print?: string;
}

/** What `init` works with. */
export interface Init extends InitFlags, ClientPlace {
  /** One or more lines for the person. */
  readonly write: (text: string) => void;
  /** One or more lines about an error. */
  readonly writeError: (text: string) => void;
  /** Undefined when there is no terminal to ask on. */
  readonly questions: Questions | undefined;
  readonly cwd: string;
  /** The settings file, as an absolute path. */
  readonly settingsFile: string;
  /** How a person runs this installation. */
  readonly command: string;
  /** How clients start the server. */
  readonly serverCommand: ServerCommand;
}

/** What becomes of the settings file; without edits it stays as it is. */
interface SettingsPlan {
  readonly edits: readonly JsonEdit[];
  /** Whether the advice to make `sandboxed` the default is of use: the modes are the program's own defaults. */
  readonly hasDefaultModes: boolean;
  /** To be created. */
  readonly folders: readonly string[];
}

const MODE_KEYS = ['default_permission_mode', 'allowed_permission_modes'];
const modeWords: Readonly<Record<ApprovalMode, string>> = {
  auto: 'the bridge allows nearly all: less is checked than in Claude Code itself',
  cautious: 'you are asked before each command that may do more than read',
  sandboxed: 'commands run unasked in a sandbox, which keeps them in the project',
  claude: 'Claude Code’s own auto mode: a model of the API checks risky calls',
};

/**
 * Learns the allowed roots from the flag or by asking, and asks for the permission modes where none are set, of which `sandboxed` stands
 * first where it works; writes nothing. Throws Cancelled, CONFIG_ERROR for a broken file, INVALID_ARGUMENTS and PATH_NOT_FOUND for a flag.
 */
export async function planSettings(init: Init, hasSandbox: boolean): Promise<SettingsPlan> {
  const { write, questions, roots: flag, homeDir, yes, settingsFile } = init;
  const { entries } = await readEntries(settingsFile);
  if (entries.length > 0)
    await loadConfig({ env: {}, cwd: homeDir, homeDir, configPath: settingsFile }).catch((error: unknown) => {
      throw leftAsItIs(messageOf(error));
    });
  const known = entries.find(({ key }) => key === 'allowed_roots');
  const existing = z.array(z.string()).parse(known?.value ?? []);
  const hasDefaultModes = !entries.some(({ key }) => MODE_KEYS.includes(key));
  const plan = { hasDefaultModes, folders: [] };
  if (flag !== undefined) {
    const named = await rootsOfFlag(init, flag);
    if (existing.length > 0) write(`Allowed roots so far, which stay: ${existing.join(', ')}`);
    const added = named.filter((root) => !holds(existing, root, homeDir));
    return { ...plan, edits: rootEdits(added, existing.length > 0) };
  }
  if (yes === true || questions === undefined) {
    if (existing.length > 0) return { ...plan, edits: [] };
    const message = 'No allowed roots are set, and there is no terminal to ask in.';
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Pass them with --roots, separated by commas.');
  }
  write('Nothing is written before the last question is answered.');
  if (existing.length > 0) write(`Allowed roots so far: ${existing.join(', ')}`);
  const keeps = existing.length > 0 && (await questions.confirm('Keep them, and add to them?', true));
  const { roots, folders } = await askRoots(init, questions, keeps ? existing : []);
  const modes = hasDefaultModes ? await askModes(questions, hasSandbox) : [];
  const projects = entries.find(({ key }) => key === 'projects')?.value;
  const checks = await askChecks(questions, [...(keeps ? existing : []), ...roots], projects, homeDir);
  return {
    ...{ folders, edits: [...rootEdits(roots, keeps), ...modes, ...checks] },
    hasDefaultModes: hasDefaultModes && modes.length === 0,
  };
}

/** Creates the folders and writes the settings file, which keeps its other keys, comments and layout. */
export async function writePlan(
  { write, homeDir, settingsFile }: Init,
  { edits, folders }: SettingsPlan,
): Promise<void> {
  if (edits.length === 0) return write('The allowed roots stay as they are.');
  const added = edits.filter(({ path: [key] }) => key === 'allowed_roots').flatMap(({ value }) => value);
  for (const root of added.filter((value) => typeof value === 'string')) {
    if (isWithin(homeDir, resolve(expandHome(root, homeDir))))
      write(`${root} contains your whole home folder: tasks may work everywhere in it.`);
  }
  for (const folder of folders) await mkdir(expandHome(folder, homeDir), { recursive: true });
  // It may have been changed while the questions were asked.
  const after = editJson((await readSettings(settingsFile)).text, edits);
  await writeSettings(settingsFile, after);
  write(`Wrote ${settingsFile}:\n${after.trimEnd()}`);
}

/** No edits where the person keeps the defaults. */
async function askModes(questions: Questions, hasSandbox: boolean): Promise<readonly JsonEdit[]> {
  const choices = approvalModes.map((value): Choice => ({ value, label: value, hint: modeWords[value] }));
  const isFirst = ({ value }: Choice): boolean => hasSandbox && value === 'sandboxed';
  const picked = await questions.pick('Which permission mode has a task when the chat names none?', [
    ...choices.filter(isFirst).map((choice) => ({ ...choice, hint: `recommended: ${choice.hint}` })),
    ...choices.filter((choice) => !isFirst(choice)),
  ]);
  const byDefault = configSchema.shape.default_permission_mode.parse(picked);
  const chosen = await questions.choose(
    `Which modes may the chat choose besides ${byDefault}? Others are refused.`,
    choices.filter(({ value }) => value !== byDefault),
  );
  const allowed = approvalModes.filter((mode) => mode === byDefault || chosen.includes(mode));
  if (byDefault === 'auto' && allowed.length === approvalModes.length) return [];
  return [
    { path: ['default_permission_mode'], value: byDefault },
    { path: ['allowed_permission_modes'], value: allowed },
  ];
}

/** The edits that set the roots, or add them to those that stay. */
function rootEdits(roots: readonly string[], adds: boolean): readonly JsonEdit[] {
  return adds
    ? roots.map((value) => ({ path: ['allowed_roots', -1], value }))
    : [{ path: ['allowed_roots'], value: roots }];
}

function holds(roots: readonly string[], root: string, homeDir: string): boolean {
  return roots.some((other) => expandHome(other, homeDir) === expandHome(root, homeDir));
}

async function rootsOfFlag(init: Init, flag: string): Promise<readonly string[]> {
  const roots = flag.split(',').map((root) => root.trim());
  const errors = await Promise.all(roots.map((root) => rootError(root, init)));
  const wrong = errors.filter((error) => error !== undefined);
  if (wrong.length === 0) return [...new Set(roots)];
  const code = wrong.every(({ isMissing }) => isMissing) ? 'PATH_NOT_FOUND' : 'INVALID_ARGUMENTS';
  const hint = 'Pass existing folders as absolute paths, separated by commas. Nothing was written.';
  throw new BridgeError(code, wrong.map(({ words }) => `flag --roots: ${words}`).join('\n'), hint);
}

/** Folders until an empty answer; `folders`: those that are to be created. */
async function askRoots(init: Init, questions: Questions, known: readonly string[]) {
  const roots: string[] = [];
  const folders: string[] = [];
  for (;;) {
    const isFirst = known.length + roots.length === 0;
    const message = isFirst
      ? 'Folder in which Claude Code may work, such as ~/Projects'
      : 'Another folder (Enter if there is none)';
    const root = (await questions.text(message)).trim();
    if (root === '' && !isFirst) return { roots, folders };
    const error = await rootError(root, init);
    if (error?.isMissing === true) {
      if (!(await questions.confirm(`${error.words} Create it?`, true))) continue;
      folders.push(root);
    } else if (error !== undefined) {
      questions.error(error.words);
      continue;
    }
    if (!holds([...known, ...roots], root, init.homeDir)) roots.push(root);
  }
}

/** Why a folder cannot be an allowed root, and what to write instead; undefined for one that can. `isMissing`: it could be created. */
async function rootError(
  root: string,
  { homeDir, cwd }: Init,
): Promise<{ readonly isMissing: boolean; readonly words: string } | undefined> {
  const expanded = expandHome(root, homeDir);
  const wrong = (words: string) => ({ isMissing: false, words });
  if (root === '') return wrong('The path of a folder is empty.');
  if (expanded.startsWith('~'))
    return wrong(`${root} is the home of another user, which is not supported: write the absolute path.`);
  if (!isAbsolute(expanded))
    return wrong(`${root} is a relative path. If you mean ${resolve(cwd, root)}, write that.`);
  const fault = await folderFault(expanded);
  return fault && { isMissing: fault.kind === 'missing', words: `${root} ${fault.words}.` };
}
