import { createReadStream } from 'node:fs';
import { readdir, lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Pack } from 'tar-stream';
import type { OpenedDirectory } from '../../projects/opened-path.js';
import type { PathOpener } from '../../projects/path-opener.js';
import { ok, type Result } from '../result.js';
import { MAX_COPY_DEPTH, refuseCopy, tooMuch, type CopyCount } from './copy-limits.js';
import { AGENT_ID } from './docker-spec.js';

const PERMISSION_BITS = 0o777;

export interface HostEntry {
  /** Below and with the name of what is copied, with `/` between. */
  readonly name: string;
  readonly path: string;
  readonly kind: 'file' | 'directory';
  readonly sizeBytes: number;
  readonly mode: number;
}

/**
 * What of this machine is to be copied: a regular file, or a folder with all that is in it. Refused as a whole when it holds
 * links, pipes, sockets or devices, or too much. Throws as `PathOpener`.
 */
export async function scanHostTree(opener: PathOpener, source: string): Promise<Result<HostEntry[]>> {
  const entries: HostEntry[] = [];
  const opened = await opener.openEither(source);
  const { path, stats } = opened;
  await opened.handle.close();
  const root = basename(path);
  const mode = Number(stats.mode) & PERMISSION_BITS;
  if (stats.isFile())
    return bounded([{ name: root, path, kind: 'file', sizeBytes: Number(stats.size), mode }]);
  entries.push({ name: root, path, kind: 'directory', sizeBytes: 0, mode });
  const directory = await opener.openDirectory(path);
  const refused = await scanFolder(opener, directory, { name: root, depth: 1, entries });
  return refused ?? bounded(entries);
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

export function countOf(entries: readonly HostEntry[]): CopyCount {
  const files = entries.filter(({ kind }) => kind === 'file');
  return {
    files: files.length,
    folders: entries.length - files.length,
    bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}

function bounded(entries: HostEntry[]): Result<HostEntry[]> {
  return tooMuch(countOf(entries)) ?? ok(entries);
}

interface Scan {
  readonly name: string;
  readonly depth: number;
  readonly entries: HostEntry[];
}

/** Adds what is in the folder and closes it; the refusal, if there is one. */
async function scanFolder(
  opener: PathOpener,
  directory: OpenedDirectory,
  { name, depth, entries }: Scan,
): Promise<Result<never> | undefined> {
  try {
    if (depth > MAX_COPY_DEPTH)
      return refuseCopy(`${JSON.stringify(name)} is more than ${MAX_COPY_DEPTH} folders deep.`);
    for (const child of await readdir(directory.entry('.'))) {
      const childName = `${name}/${child}`;
      const stats = await lstat(directory.entry(child));
      const about = {
        name: childName,
        path: join(directory.path, child),
        mode: stats.mode & PERMISSION_BITS,
      };
      if (stats.isFile()) {
        entries.push({ ...about, kind: 'file', sizeBytes: stats.size });
      } else if (stats.isDirectory()) {
        const below = await opener.directoryIn(directory, child);
        if (below === undefined)
          return refuseCopy(`${JSON.stringify(childName)} changed while it was looked at.`);
        entries.push({ ...about, kind: 'directory', sizeBytes: 0 });
        const refused = await scanFolder(opener, below, { name: childName, depth: depth + 1, entries });
        if (refused !== undefined) return refused;
      } else {
        const kind = stats.isSymbolicLink() ? 'a link' : 'a pipe, socket or device';
        return refuseCopy(
          `${JSON.stringify(childName)} is ${kind}; only regular files and folders are copied.`,
        );
      }
      const refused = tooMuch(countOf(entries.length % COUNT_EVERY === 0 ? entries : []));
      if (refused !== undefined) return refused;
    }
    return undefined;
  } finally {
    await directory.handle.close();
  }
}

/** A folder without end is noticed after so many entries; counting them costs a walk through all. */
const COUNT_EVERY = 5_000;
