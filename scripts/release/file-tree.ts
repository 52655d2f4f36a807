import { lstat, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';

const EXECUTABLE_BITS = 0o111;

export interface TreeEntry {
  /** From the top of the tree, with `/` between folders. */
  readonly name: string;
  readonly path: string;
  readonly kind: 'file' | 'folder';
  /** 0755 for folders and programs, 0644 for the rest, whatever the umask was. */
  readonly mode: number;
}

/** All that is below a folder, sorted by name. Throws for what is neither a file nor a folder. */
export async function fileTree(folder: string): Promise<TreeEntry[]> {
  const names = (await readdir(folder, { recursive: true })).map((name) => name.split(sep).join('/'));
  return Promise.all(
    names.toSorted().map(async (name) => {
      const path = join(folder, name);
      const found = await lstat(path);
      if (!found.isFile() && !found.isDirectory()) throw new Error(`${path} is neither a file nor a folder.`);
      const isProgram = found.isDirectory() || (found.mode & EXECUTABLE_BITS) !== 0;
      return {
        name,
        path,
        kind: found.isDirectory() ? 'folder' : 'file',
        mode: isProgram ? 0o755 : 0o644,
      } as const;
    }),
  );
}
