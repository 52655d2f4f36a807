import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';

/** Of a project, by path from its top: the SHA-256 of each file's bytes, as hex. */
export type TrustedFiles = Readonly<Record<string, string>>;

const MAX_BYTES = 4 * 1024 * 1024;
/** A project has some ten; one with more is not trusted. */
const MAX_FILES = 500;
/** What stands between two words of a command, in a shell or a list. */
const BETWEEN_WORDS = /[\s'"`;&|()<>$={},]+/;
/** How a hook names the project's folder. */
const PROJECT_WORD = /"?\$\{?CLAUDE_PROJECT_DIR\}?"?/g;
/** Instead of a hash; always counts as changed, since a file that cannot be read cannot be trusted. */
const UNREADABLE = 'unreadable';

/**
 * What a project's own configuration is made of: the files and folders of `names`, and each existing file in the project that a word of
 * the `texts` names, such as a script that a hook runs. Undefined where that are too many.
 */
export async function filesToTrust(
  projectPath: string,
  names: readonly string[],
  texts: readonly string[],
): Promise<TrustedFiles | undefined> {
  const words = texts
    .flatMap((text) => text.replace(PROJECT_WORD, '.').split(BETWEEN_WORDS))
    .filter((word) => word !== '');
  const named = [...names, ...words].map((name) => resolve(projectPath, name));
  const inside = [...new Set(named)].map((path) => relative(projectPath, path)).filter(isBelow);
  const found = new Map<string, string>();
  for (const name of inside) {
    for (const file of names.includes(name) ? await filesBelow(projectPath, name) : [name]) {
      const hash = await hashOf(join(projectPath, file));
      if (hash !== undefined) found.set(file, hash);
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

function isBelow(path: string): boolean {
  return path !== '' && path !== '..' && !path.startsWith('../') && !isAbsolute(path);
}

/** The file itself, or the files in the folder of that name, from the top of the project; none where there is nothing. */
async function filesBelow(projectPath: string, name: string): Promise<string[]> {
  try {
    const entries = await readdir(join(projectPath, name), { withFileTypes: true, recursive: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(projectPath, join(entry.parentPath, entry.name)))
      .slice(0, MAX_FILES + 1);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOTDIR') return [name];
    if (systemCodeOf(error) === undefined) throw error;
    return [];
  }
}

/** Undefined for what is no file. */
async function hashOf(path: string): Promise<string | undefined> {
  try {
    const read = await readRegularFile(path, MAX_BYTES);
    if (read.state === 'missing' || (read.state === 'refused' && read.why === 'it is a folder'))
      return undefined;
    return read.state === 'ok' ? createHash('sha256').update(read.bytes).digest('hex') : UNREADABLE;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return UNREADABLE;
  }
}
