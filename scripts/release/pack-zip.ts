import { readFile, writeFile } from 'node:fs/promises';
import { zipSync, type Zippable } from 'fflate';
import { fileTree } from './file-tree.js';

/** A zip archive holds local times: this one is the same in every zone. */
const FIXED_LOCAL_TIME = new Date(1985, 9, 26, 8, 15);
const UNIX = 3;

/** Packs what is in a folder, with its programs as such. The archive says nothing of the machine: time, umask and order are always the same. */
export async function packZip(folder: string, file: string): Promise<void> {
  const files: Zippable = {};
  for (const { name, path, kind, mode } of await fileTree(folder))
    if (kind === 'file') files[name] = [await readFile(path), { os: UNIX, attrs: mode << 16 }];
  await writeFile(file, zipSync(files, { level: 9, mtime: FIXED_LOCAL_TIME }));
}
