// Pure: what is copied between this machine and a container, and what is not.
import { posix } from 'node:path';
import { BridgeError } from '../../../base/errors.js';
import { PROJECT_DIRECTORY, TMPFS_DIRECTORIES, WORK_DIRECTORY } from '../container-options.js';

/** A call answers within 45 s; a busy machine copies this in less. */
const MAX_COPY_BYTES = 256 * 1024 * 1024;
const MAX_COPY_ENTRIES = 20_000;
export const MAX_COPY_DEPTH = 64;
export const COPY_LIMIT_MS = 40_000;

export interface CopyCount {
  readonly files: number;
  readonly folders: number;
  readonly bytes: number;
}

export function refuseCopy(what: string, hint = 'Copy what you need without it.'): BridgeError {
  return new BridgeError('COPY_REFUSED', what, hint);
}

/** Counts what is copied. */
export class CopyCounter implements CopyCount {
  files = 0;
  folders = 0;
  bytes = 0;

  /** Throws COPY_REFUSED when the copy has become too large. */
  add(kind: 'file' | 'directory', sizeBytes: number): void {
    if (kind === 'file') this.files++;
    else this.folders++;
    this.bytes += sizeBytes;
    checkSize(this);
  }
}

function checkSize({ files, folders, bytes }: CopyCount): void {
  if (bytes > MAX_COPY_BYTES)
    throw refuseCopy(
      `The copy is larger than ${MAX_COPY_BYTES / 1024 / 1024} MB.`,
      'Copy parts of it, or pack it first.',
    );
  if (files + folders > MAX_COPY_ENTRIES)
    throw refuseCopy(
      `The copy has more than ${MAX_COPY_ENTRIES} files and folders.`,
      'Copy parts of it, or pack it first.',
    );
}

/** Made by the kernel or by the engine for the running container: archives neither show nor fill it. */
const UNSEEN: readonly string[] = [...TMPFS_DIRECTORIES, '/dev', '/proc', '/sys', '/run/secrets'];

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** An absolute, normalized path; a relative one is one below the working directory. Throws COPY_REFUSED. */
export function containerPath(text: string): string {
  if (text === '' || text.includes('\0'))
    throw refuseCopy(
      'A path in the container must not be empty or hold a NUL character.',
      'Correct the path.',
    );
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

/** The parts of a name in an archive; undefined for one that leads out of the folder it is unpacked in. */
export function entryParts(name: string): readonly string[] | undefined {
  if (name.startsWith('/') || name.includes('\0') || name.includes('\\')) return undefined;
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') ? undefined : parts;
}
