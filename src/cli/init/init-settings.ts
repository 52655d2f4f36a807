import { mkdir } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { approvalModes, type ApprovalMode } from '../../approvals/modes.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { editJson, type JsonEdit } from '../../config/json-text.js';
import { folderFault, loadConfig } from '../../config/load-config.js';
import { defaultSettingsPath, expandHome } from '../../config/places.js';
import { configSchema } from '../../config/schema.js';
import { leftAsItIs, readEntries, readSettings, writeSettings } from '../../config/settings-file.js';
import { isWithin } from '../../projects/path-in-project.js';
import { askChecks } from './init-checks.js';
import { given, type Choice, type InitOptions, type Questions } from './questions.js';

type SettingsRequest = Pick<InitOptions, 'io' | 'homeDir' | 'cwd' | 'configPath' | 'roots' | 'yes'>;

/** What becomes of the settings file; without edits it stays as it is. */
export interface SettingsPlan {
  readonly edits: readonly JsonEdit[];
  /** Whether the advice to make `sandboxed` the default is of use: the modes are the program's own defaults. */
  readonly hasDefaultModes: boolean;
  /** To be created. */
  readonly folders: readonly string[];
  /** The settings file as it was read; empty where there was none. */
  readonly before: string;
}

const MODE_KEYS = ['default_permission_mode', 'allowed_permission_modes'];
const modeWords: Readonly<Record<ApprovalMode, string>> = {
  auto: 'the bridge allows nearly all: less is checked than in Claude Code itself',
  cautious: 'you are asked before each command that may do more than read',
  sandboxed: 'commands run unasked in a sandbox, which keeps them in the project',
  claude: 'Claude Code’s own auto mode: a model of the API checks risky calls',
};
const modeChoices: readonly Choice[] = approvalModes.map((value) => ({
  ...{ value, label: value },
  hint: modeWords[value],
}));

/**
 * Learns the allowed roots from the flag or by asking, and asks for the permission modes where none are set, of which `sandboxed` stands
 * first where it works; writes nothing. Throws
 * Cancelled, CONFIG_ERROR for a broken file, INVALID_ARGUMENTS and PATH_NOT_FOUND for a flag.
 */
export async function planSettings(request: SettingsRequest, hasSandbox: boolean): Promise<SettingsPlan> {
  const { io, roots: flag, homeDir, yes, configPath: path = defaultSettingsPath(homeDir) } = request;
  const { questions } = io;
  const { entries, text: before } = await readEntries(path);
  if (entries.length > 0)
    await loadConfig({ env: {}, cwd: homeDir, homeDir, configPath: path }).catch((error: unknown) => {
      throw leftAsItIs(messageOf(error));
    });
  const known = entries.find(({ key }) => key === 'allowed_roots');
  const existing = z.array(z.string()).parse(known?.value ?? []);
  const hasDefaultModes = !entries.some(({ key }) => MODE_KEYS.includes(key));
  const plan = { hasDefaultModes, folders: [], before };
  if (flag !== undefined)
    return { ...plan, edits: addedRoots(request, existing, await rootsOfFlag(request, flag)) };
  if (yes === true || questions === undefined) {
    if (existing.length > 0) return { ...plan, edits: [] };
    const message = 'No allowed roots are set, and there is no terminal to ask in.';
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Pass them with --roots, separated by commas.');
  }
  io.write('Nothing is written before the last question is answered.');
  if (existing.length > 0) io.write(`Allowed roots so far: ${existing.join(', ')}`);
  const keeps = existing.length > 0 && (await given(questions.confirm('Keep them, and add to them?', true)));
  const { roots: asked, missing } = await askRoots(request, questions, keeps ? existing : []);
  const modes = hasDefaultModes ? await askModes(questions, hasSandbox) : [];
  const projects = entries.find(({ key }) => key === 'projects')?.value;
  const roots = [...(keeps ? existing : []), ...asked];
  const checks = await askChecks(questions, roots, projects, homeDir);
  return {
    edits: [...rootEdits(asked, keeps), ...modes, ...checks],
    hasDefaultModes: hasDefaultModes && modes.length === 0,
    folders: missing,
    before,
  };
}

/** Creates the folders and writes the settings file, which keeps its other keys, comments and layout. Throws CONFIG_ERROR when it has changed since the plan. */
export async function writePlan(
  { io, homeDir, configPath: path = defaultSettingsPath(homeDir) }: SettingsRequest,
  { edits, folders, before }: SettingsPlan,
): Promise<void> {
  if (edits.length === 0) return io.write('The allowed roots stay as they are.');
  const added = edits.filter(({ path: [key] }) => key === 'allowed_roots').flatMap(({ value }) => value);
  for (const root of added.filter((value) => typeof value === 'string')) {
    if (isWithin(homeDir, resolve(expandHome(root, homeDir))))
      io.write(`${root} contains your whole home folder: tasks may work everywhere in it.`);
  }
  if ((await readSettings(path)).text !== before)
    throw new BridgeError(
      'CONFIG_ERROR',
      `${path} has changed while the questions were asked.`,
      'Nothing was written. Run init again.',
    );
  for (const folder of folders) await mkdir(expandHome(folder, homeDir), { recursive: true });
  const after = editJson(before, edits);
  await writeSettings(path, after);
  io.write(`Wrote ${path}:\n${after.trimEnd()}`);
}

/** No edits where the person keeps the defaults. */
async function askModes(questions: Questions, hasSandbox: boolean): Promise<readonly JsonEdit[]> {
  const first = modeChoices.filter(({ value }) => hasSandbox && value === 'sandboxed');
  const answer = await given(
    questions.pick('Which permission mode has a task when the chat names none?', [
      ...first.map((choice) => ({ ...choice, hint: `recommended: ${choice.hint}` })),
      ...modeChoices.filter((choice) => !first.includes(choice)),
    ]),
  );
  const byDefault = configSchema.shape.default_permission_mode.parse(answer);
  const chosen = await given(
    questions.choose(
      `Which modes may the chat choose besides ${byDefault}? Others are refused.`,
      modeChoices.filter(({ value }) => value !== byDefault),
    ),
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

/** Adds those that are not among the roots yet, and says which stay. */
function addedRoots(
  { io, homeDir }: SettingsRequest,
  existing: readonly string[],
  roots: readonly string[],
): readonly JsonEdit[] {
  if (existing.length > 0) io.write(`Allowed roots so far, which stay: ${existing.join(', ')}`);
  const known = existing.map((root) => expandHome(root, homeDir));
  const added = roots.filter((root) => !known.includes(expandHome(root, homeDir)));
  return rootEdits(added, existing.length > 0);
}

async function rootsOfFlag({ homeDir, cwd }: SettingsRequest, flag: string): Promise<readonly string[]> {
  const roots = flag.split(',').map((root) => root.trim());
  const errors = await Promise.all(roots.map((root) => rootError(root, homeDir, cwd)));
  const wrong = errors.filter((error) => error !== undefined);
  if (wrong.length === 0) return [...new Set(roots)];
  const code = wrong.every(({ isMissing }) => isMissing) ? 'PATH_NOT_FOUND' : 'INVALID_ARGUMENTS';
  const hint = 'Pass existing folders as absolute paths, separated by commas. Nothing was written.';
  throw new BridgeError(code, wrong.map(({ words }) => `flag --roots: ${words}`).join('\n'), hint);
}

/** Folders until an empty answer; `missing`: those that are to be created. */
async function askRoots(
  { homeDir, cwd }: SettingsRequest,
  questions: Questions,
  known: readonly string[],
): Promise<{ readonly roots: readonly string[]; readonly missing: readonly string[] }> {
  const roots: string[] = [];
  const missing: string[] = [];
  const isKnown = (root: string) =>
    [...known, ...roots].some((other) => expandHome(other, homeDir) === expandHome(root, homeDir));
  for (;;) {
    const isFirst = known.length + roots.length === 0;
    const message = isFirst
      ? 'Folder in which Claude Code may work, such as ~/Projects'
      : 'Another folder (Enter if there is none)';
    const root = (await given(questions.text(message))).trim();
    if (root === '' && !isFirst) return { roots, missing };
    const error = await rootError(root, homeDir, cwd);
    if (error?.isMissing === true) {
      if (!(await given(questions.confirm(`${error.words} Create it?`, true)))) continue;
      missing.push(root);
    } else if (error !== undefined) {
      questions.error(error.words);
      continue;
    }
    if (!isKnown(root)) roots.push(root);
  }
}

/** Why a folder cannot be an allowed root, and what to write instead; undefined for one that can. `isMissing`: it could be created. */
async function rootError(
  root: string,
  homeDir: string,
  cwd: string,
): Promise<{ readonly isMissing: boolean; readonly words: string } | undefined> {
  const expanded = expandHome(root, homeDir);
  const wrong = (words: string) => ({ isMissing: false, words });
  if (root === '') return wrong('The path of a folder is empty.');
  if (expanded.includes('\0')) return wrong('A path cannot contain a NUL character.');
  if (expanded.startsWith('~'))
    return wrong(`${root} is the home of another user, which is not supported: write the absolute path.`);
  if (!isAbsolute(expanded))
    return wrong(`${root} is a relative path. If you mean ${resolve(cwd, root)}, write that.`);
  const fault = await folderFault(expanded);
  return fault && { isMissing: fault.kind === 'missing', words: `${root} ${fault.words}.` };
}
