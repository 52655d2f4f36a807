import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import type { RuleRow } from '../../approvals/modes.js';
import { parsePermissionRule } from '../../approvals/permission-rule.js';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { readSettingsFile } from '../../base/files/json-file.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import { oneLine } from '../../base/text.js';
import { runsLater } from '../../projects/live-names.js';
import { isWithin } from '../../projects/path-in-project.js';
import { realPathOfNearest } from '../../projects/real-path.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { gitSays, isFolder, pathsNamed } from './configured-paths.js';

const rows = z.array(z.unknown()).max(0).optional();
/** Settings in which nothing narrows what the session may do. */
const withoutRulesSchema = z.looseObject({
  permissions: z.looseObject({ deny: rows, ask: rows }).optional(),
});

/** Whether a session starts with the person's own settings of Claude Code. */
export function usesOwnSettings({
  permission_mode,
  project_path,
  worktree,
  settings,
}: Pick<TaskSpec, 'permission_mode' | 'project_path' | 'worktree' | 'settings'>): boolean {
  const project = worktree?.project_path ?? project_path;
  return (
    permission_mode === 'auto' ||
    !(settings.without_own_hooks ?? []).some((folder) => isWithin(project, folder))
  );
}

/** Throws TASK_START_FAILED for settings with rules that deny or ask, or that cannot be read: these rules would not apply. */
export async function checkLeftOutSettings(configDir: string): Promise<void> {
  const file = join(configDir, 'settings.json');
  if ((await readSettingsFile(file, withoutRulesSchema)).state !== 'corrupt') return;
  throw new BridgeError(
    'TASK_START_FAILED',
    `own_hooks is false for this project (setting projects), so Claude Code starts without ${file}, which has rules that deny or ask, or cannot be read: they would not apply.`,
    'Move these rules into the setting rules of the bridge, or take own_hooks away.',
  );
}

const MAX_NOTE_CHARS = 2_000;
const OWN_REASON = 'the project’s own settings say so';
const LOCAL_FILE = '.claude/settings.local.json';
const SETTINGS_FILES = ['.claude/settings.json', LOCAL_FILE];
const SERVERS_FILE = '.mcp.json';
/** Folders and files that Claude Code reads with the project's settings alone. */
const READ_WITH_THEM = [
  '.claude/agents',
  '.claude/commands',
  '.claude/output-styles',
  '.claude/skills',
  '.claude/workflows',
  'CLAUDE.local.md',
];
const texts = z.array(z.string()).optional();
const settingsSchema = z.looseObject({
  permissions: z.looseObject({ deny: texts, ask: texts }).optional(),
});
const serversSchema = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()).optional() });

/** A project's own configuration, which a session does not use. */
export type SleepingSettings = Awaited<ReturnType<typeof sleepingSettings>>;

/**
 * What the project's own configuration says, as data: rules that deny or ask still count. Throws PROJECT_SETTINGS_UNREADABLE, which
 * names the file, since a rule in it could not be held. A worktree lacks the file that no repository has: `madeFrom` is where that lies.
 * Claude Code itself uses the one of the main checkout, in each worktree and each folder of it (2.1.332).
 */
export async function sleepingSettings(projectPath: string, madeFrom?: string) {
  const rules: RuleRow[] = [];
  const leftOut: string[] = [];
  const texts: string[] = [];
  const main = await mainCheckout(projectPath);
  const around = new Set([madeFrom ?? main, main]);
  around.delete(projectPath);
  const read = [
    ...SETTINGS_FILES.map((name) => ({ name, folder: projectPath })),
    ...[...around].map((folder) => ({ name: LOCAL_FILE, folder })),
  ];
  for (const { name, folder } of read) {
    const { permissions = {}, ...others } = (await readAs(settingsSchema, folder, name)) ?? {};
    texts.push(...textsIn(others));
    const { deny = [], ask = [], ...widening } = permissions;
    const own = [
      ...deny.map((rule) => ({ rule, verdict: 'deny' as const })),
      ...ask.map((rule) => ({ rule, verdict: 'ask' as const })),
    ];
    for (const { rule, verdict } of own)
      // Claude Code skips another one, and at a terminal may stop to say so.
      if ('rule' in parsePermissionRule(rule)) rules.push({ rule, verdict, reason: OWN_REASON });
      else leftOut.push(`permissions.${verdict} ${shown(rule)} (${name})`);
    const keys = [...Object.keys(widening).map((key) => `permissions.${key}`), ...Object.keys(others)];
    leftOut.push(...keys.filter((key) => key !== '$schema').map((key) => `${shown(key)} (${name})`));
  }
  const { mcpServers = {} } = (await readAs(serversSchema, projectPath, SERVERS_FILE)) ?? {};
  leftOut.push(...Object.keys(mcpServers).map((server) => `MCP server ${shown(server)} (${SERVERS_FILE})`));
  texts.push(...textsIn(mcpServers));
  for (const name of READ_WITH_THEM) if (existsSync(join(projectPath, name))) leftOut.push(name);
  if (existsSync(join(projectPath, '.claude', 'rules'))) {
    const { rulesWithPaths } = await import('./project-texts.js');
    leftOut.push(...(await rulesWithPaths(projectPath)).map(shown));
  }
  const named = [...SETTINGS_FILES, SERVERS_FILE, ...READ_WITH_THEM, ...texts];
  const { paths, isAll } = pathsNamed(named, [projectPath], projectPath);
  const places = await placesOf(projectPath, paths);
  const own = isAll ? await filesToTrust(projectPath, places) : undefined;
  const files = own === undefined ? undefined : await withLocalOf(main, own, projectPath);
  return {
    /** Its rules that deny or ask. */
    rules,
    /** What of it has no effect: setting or server, and the file. */
    leftOut,
    /** The paths in the project that it names, with links resolved too, whether there is something or not. */
    places,
    /** What all of it is made of; undefined where that are too many files. */
    files,
  };
}

/** The main checkout of the repository in which a folder is, as git says; the top of one that has none, without one the folder. */
async function mainCheckout(folder: string): Promise<string> {
  const words = ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir'];
  const [top = folder, common = ''] = await gitSays(folder, words, '\n');
  return basename(common) === '.git' ? dirname(common) : top;
}

/** With the local settings of another checkout, by the name that they would have here: a worktree has the trust of its repository. */
async function withLocalOf(main: string, files: TrustedFiles, projectPath: string): Promise<TrustedFiles> {
  const file = join(main, LOCAL_FILE);
  const hash = existsSync(file) ? await hashOf(file) : undefined;
  if (hash === undefined || hash === files[LOCAL_FILE]) return files;
  return { ...files, [LOCAL_FILE in files ? relative(projectPath, file) : LOCAL_FILE]: hash };
}

/** A folder counts where a name in its path begins with a dot: a command that names another one works on the code in it. */
async function placesOf(projectPath: string, named: readonly string[]): Promise<string[]> {
  const there = named.filter((path) => existsSync(path));
  const real = await Promise.all(there.map((path) => realPathOfNearest(path)));
  const inside = real.filter((path) => path !== projectPath && isWithin(path, projectPath));
  const places = [...new Set([...named, ...inside])];
  return places.filter((path) => !isFolder(path) || runsLater(path, projectPath));
}

/** A project chooses these names: they must not read as words of the bridge. */
function shown(name: string): string {
  return /^[\w.:@/()*~{}[\]!?-]{1,60}$/.test(name) ? name : 'one with an unusual name';
}

/** Every text in it, at any depth. */
function textsIn(value: unknown): string[] {
  const found = [value];
  // It grows while it is read.
  for (const one of found)
    if (typeof one === 'object' && one !== null) for (const part of Object.values(one)) found.push(part);
  return found.filter((one) => typeof one === 'string');
}

/** Whether a person trusts all of it as it is now, or what has changed since. */
export function trustIn(
  { files }: SleepingSettings,
  trusted: TrustedFiles | undefined,
): 'trusted' | readonly string[] {
  if (files === undefined || trusted === undefined) return [];
  const changed = changedSince(trusted, files);
  return changed.length === 0 ? 'trusted' : changed;
}

/**
 * The note about it in the answer that starts a task; undefined where nothing is left out. `texts`: what is used as text, and what is not;
 * `changed`: since it was trusted; `command`: how a person runs the bridge.
 */
export function leftOutNote(
  { leftOut }: SleepingSettings,
  texts: { readonly folders: readonly string[]; readonly leftOut: readonly string[] },
  changed: readonly string[],
  command: string,
): string | undefined {
  const { folders, leftOut: files } = texts;
  if (leftOut.length === 0) return undefined;
  const rest = [...leftOut.filter((name) => !folders.includes(name)), ...files.map(shown)];
  const list = rest.length === 0 ? '' : ` Left out: ${oneLine(rest.join(', '), MAX_NOTE_CHARS)}.`;
  const used =
    folders.length === 0
      ? ''
      : ` Of ${folders.join(', ')} the text alone is used, by the names project:…, without hooks, shell lines and tools that they allow.`;
  const since =
    changed.length === 0
      ? ''
      : ` It was trusted, and has changed since: ${oneLine(changed.map(shown).join(', '), MAX_NOTE_CHARS)}.`;
  return `Of the project's own configuration, its instructions and its rules that deny or ask are used.${used}${list}${since} A person can trust it as it is: ${command} trust, in the project.`;
}

/** Whether the project's own configuration sleeps: a hook of it would answer what a mode asks, or what mentions a rule (2.1.332). */
export function projectSleeps({
  permission_mode,
  settings,
}: Pick<TaskSpec, 'permission_mode' | 'settings'>): boolean {
  return permission_mode !== 'auto' || (settings.rules ?? []).some(({ verdict }) => verdict !== 'allow');
}

/** Undefined without a file, or with an empty one. */
async function readAs<T>(schema: z.ZodType<T>, projectPath: string, name: string): Promise<T | undefined> {
  const file = join(projectPath, name);
  const read = await readSettingsFile(file, schema);
  if (read.state === 'ok') return read.value;
  if (read.state === 'missing') return undefined;
  // What is wrong with it would be text of the project.
  throw new BridgeError(
    'PROJECT_SETTINGS_UNREADABLE',
    `${file} cannot be read as settings of Claude Code, so the rules in it could not be held.`,
    'Correct or remove the file, then start the task again.',
  );
}

/** Of a project, by path from its top: the SHA-256 of each file's bytes, as hex. */
export type TrustedFiles = Readonly<Record<string, string>>;

const MAX_BYTES = 4 * 1024 * 1024;
/** A project has some ten; one with more is not trusted. */
const MAX_FILES = 500;
/** Instead of a hash; always counts as changed, since a file that cannot be read cannot be trusted. */
const UNREADABLE = 'unreadable';

/**
 * The files that exist at and below these places of a project. Undefined where that are too many. What cannot be read, a link to a folder
 * among it, has no hash.
 */
export async function filesToTrust(
  projectPath: string,
  places: readonly string[],
): Promise<TrustedFiles | undefined> {
  const found = new Map<string, string>();
  for (const place of places.filter((path) => existsSync(path))) {
    for (const file of await filesBelow(place)) {
      found.set(relative(projectPath, file), await hashOf(file));
      if (found.size > MAX_FILES) return undefined;
    }
  }
  return Object.fromEntries([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The names of what is new, gone or different since; none when all is as it was. */
export function changedSince(trusted: TrustedFiles, now: TrustedFiles): string[] {
  const names = new Set([...Object.keys(trusted), ...Object.keys(now)]);
  return [...names].filter((name) => trusted[name] !== now[name] || now[name] === UNREADABLE).sort();
}

/** The file itself, or the files in the folder. A link in it counts as a file. */
async function filesBelow(place: string): Promise<string[]> {
  try {
    const entries = await readdir(place, { withFileTypes: true, recursive: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .slice(0, MAX_FILES + 1);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return [place];
  }
}

async function hashOf(path: string): Promise<string> {
  try {
    const read = await readRegularFile(path, MAX_BYTES);
    return read.state === 'ok' ? createHash('sha256').update(read.bytes).digest('hex') : UNREADABLE;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return UNREADABLE;
  }
}
