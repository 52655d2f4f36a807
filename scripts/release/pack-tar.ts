import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import { fileTree } from './file-tree.js';
import { FIXED_TIME } from './fixed-time.js';

/** Packs what is in a folder. The archive says nothing of the machine: owner, time, umask and order are always the same. */
export async function packTar(folder: string, file: string): Promise<void> {
  const archive = pack();
  await Promise.all([
    addTree(archive, folder),
    pipeline(archive, createGzip({ level: 9 }), createWriteStream(file)),
  ]);
}

async function addTree(archive: Pack, folder: string): Promise<void> {
  for (const { name, path, kind, mode } of await fileTree(folder)) {
    const header = { name, mode, mtime: FIXED_TIME, uid: 0, gid: 0 };
    if (kind === 'folder') archive.entry({ ...header, type: 'directory' });
    else archive.entry(header, await readFile(path));
  }
  archive.finalize();
}
