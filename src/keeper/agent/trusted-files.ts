import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';

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
