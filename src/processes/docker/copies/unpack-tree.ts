import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { BridgeError, messageOf, systemCodeOf } from '../../../base/errors.js';
import type { OpenedDirectory } from '../../../projects/opened-path.js';
import { type CopyCount, CopyCounter, entryParts, MAX_COPY_DEPTH, refuseCopy } from './container-path.js';

/** No set-user-ID, no sticky bit, nothing that others may write. */
const KEPT_MODE_BITS = 0o755;
const OWNER_BITS = 0o700;

export interface UnpackTarget {
  /** Where the copy goes; open; the caller closes it. */
  readonly parent: OpenedDirectory;
  readonly name: string;
  /** Rejects for a path at which nothing may be written. */
  readonly refuse: (path: string) => Promise<void>;
}

/**
 * Unpacks an archive of one file or one folder as `name` in the parent: first into a folder of its own beside it that nobody else
 * can name, then, when it is whole, put into place in one step. So an error leaves nothing behind. A regular file of that name
 * is replaced; a folder that is there already is not touched. Entries other than regular files and folders, and names that lead
 * elsewhere, refuse the whole: COPY_REFUSED. Throws COPY_FAILED for an error of the archive or the disk.
 */
export async function unpackTree(archive: Readable, target: UnpackTarget): Promise<CopyCount> {
  const { parent, name } = target;
  const staging = parent.entry(`.${randomBytes(12).toString('hex')}.tmp`);
  try {
    await mkdir(staging, { mode: OWNER_BITS });
    const count = await new Unpacking(staging, target).run(archive);
    await place(join(staging, STAGED), parent.entry(name), join(parent.path, name));
    return count;
  } catch (thrown) {
    // A refusal says so itself; all else is the archive's error, or the disk's.
    if (thrown instanceof BridgeError || thrown instanceof TypeError) throw thrown;
    throw new BridgeError(
      'COPY_FAILED',
      `The copy to ${JSON.stringify(parent.path)} failed: ${messageOf(thrown)}.`,
      'Try again; if it is the disk, ask the user to look at permissions and free space.',
      { cause: thrown },
    );
  } finally {
    archive.destroy();
    await rm(staging, { recursive: true, force: true });
  }
}

const STAGED = 'copy';

/** The bytes of one entry; those of a folder are none, and are passed over. */
interface EntryContent extends AsyncIterable<unknown> {
  resume(): unknown;
}

class Unpacking {
  readonly #staging: string;
  readonly #target: UnpackTarget;
  readonly #count = new CopyCounter();

  constructor(staging: string, target: UnpackTarget) {
    this.#staging = staging;
    this.#target = target;
  }

  async run(archive: Readable): Promise<CopyCount> {
    const entries = extract();
    const fed = pipeline(archive, entries);
    // Its error is that of the loop below, too, unless the loop has ended before.
    fed.catch(() => undefined);
    for await (const entry of entries) {
      try {
        await this.#take(entry.header, entry);
      } catch (error) {
        entries.destroy();
        throw error;
      }
    }
    await fed;
    return this.#count;
  }

  async #take(header: Header, content: EntryContent): Promise<void> {
    const shown = JSON.stringify(header.name);
    const isFolder = header.type === 'directory';
    if (!isFolder && header.type !== 'file')
      throw refuseCopy(`${shown} is a ${header.type}; only regular files and folders are copied.`);
    const parts = entryParts(header.name);
    if (parts === undefined) throw refuseCopy(`The name ${shown} leads out of the copy.`);
    if (parts.length > MAX_COPY_DEPTH)
      throw refuseCopy(`${shown} is more than ${MAX_COPY_DEPTH} folders deep.`);
    // The first part is the name that the copy had in the container.
    const inside = parts.slice(1);
    await this.#target.refuse(join(this.#target.parent.path, this.#target.name, ...inside));
    this.#count.add(isFolder ? 'directory' : 'file', header.size);
    const path = join(this.#staging, STAGED, ...inside);
    const mode = (header.mode & KEPT_MODE_BITS) | 0o600;
    if (isFolder) {
      await mkdir(path, { mode: mode | OWNER_BITS });
      content.resume();
      return;
    }
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(path, flags, mode);
    try {
      for await (const bytes of content) if (bytes instanceof Uint8Array) await file.writeFile(bytes);
    } finally {
      await file.close();
    }
  }
}

/** Puts the whole copy into place. Throws COPY_REFUSED when the place is taken. */
async function place(staged: string, target: string, shownPath: string): Promise<void> {
  const [copy, there] = await Promise.all([lstat(staged), lstatOrNone(target)]);
  const isReplaced = there !== undefined && copy.isFile() && there.isFile();
  if (there !== undefined && !isReplaced) {
    throw refuseCopy(
      `${JSON.stringify(shownPath)} is there already${copy.isDirectory() ? ', and folders are not merged' : ' and is no regular file'}.`,
      `Choose another destination than ${JSON.stringify(basename(shownPath))}, or let the user remove it.`,
    );
  }
  await rename(staged, target);
}

async function lstatOrNone(path: string) {
  try {
    return await lstat(path);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}
