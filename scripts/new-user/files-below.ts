import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** All files and empty folders below a folder, as paths from there, sorted. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const parents = new Set(entries.map(({ parentPath }) => parentPath));
  return entries
    .map((entry) => ({ isFolder: entry.isDirectory(), path: join(entry.parentPath, entry.name) }))
    .filter(({ isFolder, path }) => !isFolder || !parents.has(path))
    .map(({ path }) => relative(folder, path))
    .toSorted();
}
