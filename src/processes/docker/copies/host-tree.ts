import { createReadStream } from 'node:fs';
import { readdir, lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Pack } from 'tar-stream';
import type { OpenedDirectory } from '../../../projects/opened-path.js';
import type { PathOpener } from '../../../projects/path-opener.js';
import { isSecretName } from '../../../projects/secret-names.js';
import { CopyCounter, MAX_COPY_DEPTH, refuseCopy, type CopyCount } from './container-path.js';
import { AGENT_ID } from '../container-options.js';

const PERMISSION_BITS = 0o777;

export interface HostEntry {
  /** Below and with the name of what is copied, with `/` between. */
  readonly name: string;
  readonly path: string;
  readonly kind: 'file' | 'directory';
  readonly sizeBytes: number;
  readonly mode: number;
}

export interface HostTree {
  readonly entries: readonly HostEntry[];
  readonly count: CopyCount;
  /** Files and folders in the folder that hold secrets by their names, relative to it: they are not copied. */
  readonly secrets: readonly string[];
}

/**
 * What of this machine is to be copied: a regular file, or a folder with all that is in it but secrets. Throws COPY_REFUSED when
 * it holds links, pipes, sockets or devices, or too much, and as `PathOpener`.
 */
export async function scanHostTree(opener: PathOpener, source: string): Promise<HostTree> {
  const entries: HostEntry[] = [];
  const secrets: string[] = [];
  const opened = await opener.openEither(source);
  const { path, stats } = opened;
  await opened.handle.close();
  const root = basename(path);
  const mode = Number(stats.mode) & PERMISSION_BITS;
  const count = new CopyCounter();
  const add = (entry: HostEntry): void => {
    count.add(entry.kind, entry.sizeBytes);
    entries.push(entry);
  };
  if (stats.isFile()) {
    add({ name: root, path, kind: 'file', sizeBytes: Number(stats.size), mode });
    return { entries, secrets, count };
  }
  add({ name: root, path, kind: 'directory', sizeBytes: 0, mode });
  const directory = await opener.openDirectory(path);
  await scanFolder(opener, directory, { root, inner: '', depth: 1, add, secrets });
  return { entries, secrets, count };
}

/** Puts the entries into an archive, one after the other; files are cut at the size they had when they were scanned. */
export async function packHostTree(
  archive: Pack,
  entries: readonly HostEntry[],
  options: { readonly opener: PathOpener; readonly prefix: string },
): Promise<void> {
  for (const { name, path, kind, sizeBytes, mode } of entries) {
    const header = { name: options.prefix + name, mode, uid: AGENT_ID, gid: AGENT_ID };
    if (kind === 'directory') {
      archive.entry({ ...header, type: 'directory' });
      continue;
    }
    if (sizeBytes === 0) {
      archive.entry(header, Buffer.alloc(0));
      continue;
    }
    const { handle } = await options.opener.openFile(path);
    try {
      const entry = archive.entry({ ...header, size: sizeBytes });
      const content = { fd: handle.fd, start: 0, end: sizeBytes - 1, autoClose: false };
      await pipeline(createReadStream(path, content), entry);
    } finally {
      await handle.close();
    }
  }
}

interface Scan {
  /** The name of the folder that is copied. */
  readonly root: string;
  /** The way from there to the scanned folder; empty, or with `/` at its end. */
  readonly inner: string;
  readonly depth: number;
  readonly add: (entry: HostEntry) => void;
  readonly secrets: string[];
}

/** Adds what is in the folder and closes it. Throws COPY_REFUSED. */
async function scanFolder(
  opener: PathOpener,
  directory: OpenedDirectory,
  { root, inner, depth, add, secrets }: Scan,
): Promise<void> {
  try {
    if (depth > MAX_COPY_DEPTH)
      throw refuseCopy(`${JSON.stringify(`${root}/${inner}`)} is more than ${MAX_COPY_DEPTH} folders deep.`);
    for (const child of await readdir(directory.entry('.'))) {
      if (isSecretName(inner + child)) {
        secrets.push(inner + child);
        continue;
      }
      const childName = `${root}/${inner}${child}`;
      const stats = await lstat(directory.entry(child));
      const about = {
        name: childName,
        path: join(directory.path, child),
        mode: stats.mode & PERMISSION_BITS,
      };
      if (stats.isFile()) {
        add({ ...about, kind: 'file', sizeBytes: stats.size });
      } else if (stats.isDirectory()) {
        const below = await opener.directoryIn(directory, child);
        if (below === undefined) throw refuseCopy(`${JSON.stringify(childName)} changed while it was read.`);
        add({ ...about, kind: 'directory', sizeBytes: 0 });
        const scan = { root, inner: `${inner}${child}/`, depth: depth + 1, add, secrets };
        await scanFolder(opener, below, scan);
      } else {
        const kind = stats.isSymbolicLink() ? 'a link' : 'a pipe, socket or device';
        throw refuseCopy(
          `${JSON.stringify(childName)} is ${kind}; only regular files and folders are copied.`,
        );
      }
    }
  } finally {
    await directory.handle.close();
  }
}
