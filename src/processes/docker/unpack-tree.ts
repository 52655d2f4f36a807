import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import type { OpenedDirectory } from '../../projects/opened-path.js';
import { CopyCount, refuseCopy } from './copy-rules.js';

/** No set-user-ID, no sticky bit, nothing that others may write. */
const KEPT_MODE_BITS = 0o755;
const OWNER_BITS = 0o700;
const FILE_BITS = 0o600;

export interface UnpackTarget {
  /** Where the copy goes; open; the caller closes it. */
  readonly parent: OpenedDirectory;
  readonly name: string;
  /** Rejects for a path at which nothing may be written. */
  readonly refuse: (path: string) => Promise<void>;
}

/**
 * Unpacks an archive of one file or one folder as `name` in the parent: first into a temporary folder
 * beside it with a random name, then, when it is whole, moved into place in one step. So an error leaves nothing behind. A regular file of that name
 * is replaced; a folder that is there already is not touched. Entries other than regular files and folders, and names that lead
 * elsewhere, refuse the whole: COPY_REFUSED. Throws COPY_FAILED for an error of the archive or the disk.
 */
export async function unpackTree(archive: Readable, target: UnpackTarget): Promise<CopyCount> {
  const { parent, name } = target;
  const count = new CopyCount();
  const staging = parent.entry(`.${randomBytes(12).toString('hex')}.tmp`);
  const staged = join(staging, 'copy');
  const entries = extract();
  try {
    await mkdir(staging, { mode: OWNER_BITS });
    const fed = pipeline(archive, entries);
    // Its error is that of the loop below, too, unless the loop has ended before.
    fed.catch(() => undefined);
    for await (const entry of entries) await unpack(entry.header, entry, { staged, target, count });
    await fed;
    await place(staged, parent.entry(name), join(parent.path, name));
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
    entries.destroy();
    archive.destroy();
    await rm(staging, { recursive: true, force: true });
  }
}

async function unpack(
  { name, type, size, mode }: Header,
  content: AsyncIterable<unknown>,
  { staged, target, count }: { staged: string; target: UnpackTarget; count: CopyCount },
): Promise<void> {
  const shown = JSON.stringify(name);
  if (type !== 'directory' && type !== 'file')
    throw refuseCopy(`${shown} is a ${type}; only regular files and folders are copied.`);
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  const leadsOut = /^\/|[\0\\]/.test(name) || parts.length === 0 || parts.includes('..');
  if (leadsOut) throw refuseCopy(`The name ${shown} leads out of the copy.`);
  // The first part is the name that the copy had in the container.
  const inside = parts.slice(1);
  await target.refuse(join(target.parent.path, target.name, ...inside));
  count.add(name, type, size, parts.length);
  const path = join(staged, ...inside);
  const bits = (mode & KEPT_MODE_BITS) | FILE_BITS;
  if (type === 'directory') {
    await mkdir(path, { mode: bits | OWNER_BITS });
    for await (const _nothing of content);
    return;
  }
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(path, flags, bits);
  try {
    for await (const bytes of content) if (bytes instanceof Uint8Array) await file.writeFile(bytes);
  } finally {
    await file.close();
  }
}

/** Puts the whole copy into place. Throws COPY_REFUSED when the place is taken. */
async function place(staged: string, target: string, shownPath: string): Promise<void> {
  const copy = await lstat(staged);
  const there = await lstat(target).catch((thrown: unknown): Stats | undefined => {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  });
  if (there !== undefined && !(copy.isFile() && there.isFile())) {
    const why = copy.isDirectory() ? 'folders are not merged' : 'it is no regular file';
    const hint = 'Choose another destination, or let the user remove it.';
    throw refuseCopy(`${JSON.stringify(shownPath)} is there already, and ${why}.`, hint);
  }
  await rename(staged, target);
}
