import { createReadStream } from 'node:fs';
import { readdir, lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Pack } from 'tar-stream';
import type { OpenedDirectory } from '../../projects/opened-path.js';
import type { PathOpener } from '../../projects/path-opener.js';
import { isSecretName } from '../../projects/secret-names.js';
import { AGENT_ID } from './container-options.js';
import { CopyCount, refuseCopy } from './copy-rules.js';

const PERMISSION_BITS = 0o777;

interface HostEntry {
  /** Below and with the name of what is copied, with `/` between. */
  readonly name: string;
  readonly path: string;
  readonly kind: 'file' | 'directory';
  readonly sizeBytes: number;
  readonly mode: number;
}

/** A file or folder of this machine that is to be copied, with all that is in it but secrets. */
export class HostTree {
  readonly entries: HostEntry[] = [];
  /** Files and folders in the folder that hold secrets by their names, relative to it: they are not copied. */
  readonly secrets: string[] = [];
  readonly count = new CopyCount();
  readonly #opener: PathOpener;

  private constructor(opener: PathOpener) {
    this.#opener = opener;
  }

  /**
   * Finds what there is. Throws COPY_REFUSED when it holds links, pipes, sockets or devices, or too much, and as `PathOpener`.
   */
  static async scan(opener: PathOpener, source: string): Promise<HostTree> {
    const tree = new HostTree(opener);
    const { path, stats, handle } = await opener.openEither(source);
    await handle.close();
    const kind = stats.isFile() ? 'file' : 'directory';
    const sizeBytes = kind === 'file' ? Number(stats.size) : 0;
    tree.#add({ name: basename(path), path, kind, sizeBytes, mode: Number(stats.mode) }, 0);
    if (kind === 'directory') await tree.#scan(await opener.openDirectory(path), basename(path), '', 1);
    return tree;
  }

  /** Puts the entries into an archive, one after the other; files are cut at the size they had when they were scanned. */
  async pack(archive: Pack, prefix: string): Promise<void> {
    for (const { name, path, kind, sizeBytes, mode } of this.entries) {
      const header = { name: prefix + name, mode, uid: AGENT_ID, gid: AGENT_ID };
      if (sizeBytes === 0) {
        archive.entry({ ...header, type: kind }, Buffer.alloc(0));
        continue;
      }
      const { handle } = await this.#opener.openFile(path);
      try {
        const content = { fd: handle.fd, start: 0, end: sizeBytes - 1, autoClose: false };
        await pipeline(createReadStream(path, content), archive.entry({ ...header, size: sizeBytes }));
      } finally {
        await handle.close();
      }
    }
  }

  #add(entry: HostEntry, depth: number): void {
    this.count.add(entry.name, entry.kind, entry.sizeBytes, depth);
    this.entries.push({ ...entry, mode: entry.mode & PERMISSION_BITS });
  }

  /** Adds what is in the folder `inner` below `root`, and closes it. */
  async #scan(folder: OpenedDirectory, root: string, inner: string, depth: number): Promise<void> {
    try {
      for (const child of await readdir(folder.entry('.'))) {
        if (isSecretName(inner + child)) {
          this.secrets.push(inner + child);
          continue;
        }
        const name = `${root}/${inner}${child}`;
        const stats = await lstat(folder.entry(child));
        const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : undefined;
        if (kind === undefined) {
          const what = stats.isSymbolicLink() ? 'a link' : 'a pipe, socket or device';
          throw refuseCopy(`${JSON.stringify(name)} is ${what}; only regular files and folders are copied.`);
        }
        const { mode } = stats;
        const sizeBytes = kind === 'file' ? stats.size : 0;
        this.#add({ name, path: join(folder.path, child), kind, sizeBytes, mode }, depth);
        if (kind === 'file') continue;
        const below = await this.#opener.directoryIn(folder, child);
        if (below === undefined) throw refuseCopy(`${JSON.stringify(name)} changed while it was read.`);
        await this.#scan(below, root, `${inner}${child}/`, depth + 1);
      }
    } finally {
      await folder.handle.close();
    }
  }
}
