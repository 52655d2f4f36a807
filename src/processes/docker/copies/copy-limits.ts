// Pure: what is copied between this machine and a container, and what is not.
import { BridgeError } from '../../../base/errors.js';

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

/** Throws COPY_REFUSED for a copy that is too large. */
export function checkSize({ files, folders, bytes }: CopyCount): void {
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
