// Pure: what is copied between this machine and a container, and what is not.
import { posix } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { PROJECT_DIRECTORY, TMPFS_DIRECTORIES, WORK_DIRECTORY } from './container-options.js';

/** A call answers within 45 s; a busy machine copies this in less. */
export const COPY_LIMIT_MS = 40_000;
const MAX_MB = 256;
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 64;
/** Made by the kernel or by the engine for the running container: archives neither show nor fill it. */
const UNSEEN: readonly string[] = [...TMPFS_DIRECTORIES, '/dev', '/proc', '/sys', '/run/secrets'];

export function refuseCopy(what: string, hint = 'Copy what you need without it.'): BridgeError {
  return new BridgeError('COPY_REFUSED', what, hint);
}

/** Counts what is copied. */
export class CopyCount {
  files = 0;
  folders = 0;
  bytes = 0;

  /** One entry so many folders deep. Throws COPY_REFUSED when the copy has become too large. */
  add(name: string, kind: 'file' | 'directory', sizeBytes: number, depth: number): void {
    if (kind === 'file') this.files++;
    else this.folders++;
    this.bytes += sizeBytes;
    const hint = 'Copy parts of it, or pack it first.';
    if (this.bytes > MAX_MB * 1024 * 1024) throw refuseCopy(`The copy is larger than ${MAX_MB} MB.`, hint);
    if (this.files + this.folders > MAX_ENTRIES)
      throw refuseCopy(`The copy has more than ${MAX_ENTRIES} files and folders.`, hint);
    if (depth > MAX_DEPTH)
      throw refuseCopy(`${JSON.stringify(name)} is more than ${MAX_DEPTH} folders deep.`);
  }
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** An absolute, normalized path in a container; a relative one is one below the working directory. Throws COPY_REFUSED. */
export function containerPath(text: string): string {
  if (text === '' || text.includes('\0'))
    throw refuseCopy('A path in the container is not empty and holds no NUL character.', 'Correct the path.');
  const path = posix.resolve(WORK_DIRECTORY, text);
  const unseen = UNSEEN.find((folder) => isInside(path, folder));
  if (unseen === undefined) return path;
  throw refuseCopy(
    `${JSON.stringify(path)} is in ${unseen}, which is memory of the running container: copies neither see it nor arrive there.`,
    `Use a place below ${WORK_DIRECTORY}.`,
  );
}

/** The same for a path to which something is copied. */
export function writablePath(text: string): string {
  const path = containerPath(text);
  if (!isInside(path, PROJECT_DIRECTORY)) return path;
  throw refuseCopy(`${PROJECT_DIRECTORY} is mounted read only.`, `Use a place below ${WORK_DIRECTORY}.`);
}
