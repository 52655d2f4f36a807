import { lstat, readdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { systemCodeOf } from '../../base/errors.js';
import { makeFolders } from '../../base/files/folders.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import { isWithin } from '../../projects/path-in-project.js';

/** Each name stands before those of the texts: `project:review`. */
const PLUGIN_NAME = 'project';
const MAX_BYTES = 256 * 1024;
/** To parse a long one takes seconds. */
const MAX_FRONT_CHARS = 16 * 1024;
const MAX_FILES = 500;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const FRONT_MATTER = /^\uFEFF?---\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** A value of another kind counts as none. */
const text = z.string().optional().catch(undefined);
/** A value of another kind is refused, since without it the agent would have more tools. */
const names = z.union([z.string(), z.array(z.string())]).optional();
const PERSON_ALONE = 'disable-model-invocation';
/** Any value but these two counts as true: only a person may start it then. */
const personAlone = z
  .union([z.boolean(), z.literal(['true', 'false'])])
  .optional()
  .catch(true);
/** By folder, the fields that are words for the model or narrow what it may use. Hooks, servers and `allowed-tools` are none of them. */
const kinds = {
  skills: z.object({ name: text, description: text, [PERSON_ALONE]: personAlone }),
  commands: z.object({ description: text, [PERSON_ALONE]: personAlone }),
  agents: z.object({ name: text, description: text, model: text, tools: names, disallowedTools: names }),
};
type Kind = keyof typeof kinds;

/** What of a project's texts is in the plugin, by paths from the top of the project. */
export interface ProjectTexts {
  /** Folders of which at least one file is in it. */
  readonly folders: readonly string[];
  readonly leftOut: readonly string[];
}

/**
 * Writes a plugin of Claude Code with the skills, commands and agents of the project as text: nothing in it runs, but shell lines in
 * their words, which the setting `disableSkillShellExecution` holds. Without any, it writes no plugin. A file is left out if it is
 * reached by a link that leads out of the project, since that may be any file of the user, or if it cannot be read or is too large. Front matter that is not YAML or too long
 * is not used; it leaves out an agent, whose tools it may limit.
 */
export async function writeProjectTexts(projectPath: string, plugin: string): Promise<ProjectTexts> {
  const project = await realpath(projectPath);
  const folders: string[] = [];
  const leftOut: string[] = [];
  for (const kind of ['skills', 'commands', 'agents'] as const) {
    const folder = join(project, '.claude', kind);
    let isUsed = false;
    for (const file of await filesOf(project, folder, kind)) {
      const path = join(folder, file);
      const whole = await textOf(project, path);
      if (whole !== undefined && (await writeText(whole, path, kind, join(plugin, kind, file))))
        isUsed = true;
      else leftOut.push(`.claude/${kind}/${file}`);
    }
    if (isUsed) folders.push(`.claude/${kind}`);
  }
  if (folders.length > 0) await write(join(plugin, '.claude-plugin', 'plugin.json'), { name: PLUGIN_NAME });
  return { folders, leftOut };
}

/** The rules of the project for some paths alone, which Claude Code reads with the project's settings alone (2.1.332). */
export async function rulesWithPaths(projectPath: string): Promise<string[]> {
  const project = await realpath(projectPath);
  const folder = join(project, '.claude', 'rules');
  const found: string[] = [];
  for (const file of await filesOf(project, folder, 'commands')) {
    const front = FRONT_MATTER.exec((await textOf(project, join(folder, file))) ?? '')?.[1] ?? '';
    if (front.length > MAX_FRONT_CHARS || parseDocument(front).has('paths'))
      found.push(`.claude/rules/${file}`);
  }
  return found;
}

/** From its folder; none where that is missing, leads out of the project or has too many. */
async function filesOf(project: string, folder: string, kind: Kind): Promise<string[]> {
  try {
    if (!isWithin(await realpath(folder), project)) return [];
    const files = kind === 'skills' ? await skillsIn(folder) : await textsIn(folder);
    return files.length > MAX_FILES ? [] : files.sort();
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return [];
  }
}

/** A folder of a skill may be a link. */
async function skillsIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).map((name) => join(name, 'SKILL.md'));
  const found = await Promise.allSettled(files.map((file) => lstat(join(folder, file))));
  return files.filter((_, at) => found[at]?.status === 'fulfilled');
}

async function textsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith('.md'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Undefined for what lies outside of the project, and for what cannot be read. */
async function textOf(project: string, path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    if (!isWithin(real, project)) return undefined;
    const read = await readRegularFile(real, MAX_BYTES);
    return read.state === 'ok' ? read.bytes.toString('utf8') : undefined;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** False if it is left out. */
async function writeText(whole: string, path: string, kind: Kind, target: string): Promise<boolean> {
  const front = FRONT_MATTER.exec(whole);
  const fields = fieldsOf(front?.[1] ?? '', kind);
  if (fields === undefined) return false;
  const body = whole.slice(front?.[0].length ?? 0);
  const place = kind === 'skills' ? `The other files of this skill are in ${dirname(path)}\n\n` : '';
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  await write(target, ['---', ...lines, '---', `${place}${body}`].join('\n'));
  return true;
}

/** Undefined for an agent whose limits, and a text of which who may start it, cannot be read. */
function fieldsOf(front: string, kind: Kind): Record<string, unknown> | undefined {
  const none = kind === 'agents' || front.includes(PERSON_ALONE) ? undefined : {};
  if (front.length > MAX_FRONT_CHARS) return none;
  const document = parseDocument(front);
  if (document.errors.length > 0) return none;
  try {
    return kinds[kind].safeParse(document.toJS() ?? {}).data ?? none;
  } catch (error) {
    // Too many aliases.
    if (error instanceof ReferenceError) return none;
    throw error;
  }
}

async function write(path: string, content: string | Readonly<Record<string, string>>): Promise<void> {
  await makeFolders(dirname(path), FOLDER_MODE);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: FILE_MODE });
}
