import type { FilesPatchQuery } from '../git/diff/files-patch.js';
import { patchFiles } from './patch-files.js';
import type { DiffFile } from './state.js';

/** More than a page gets; what git prints beyond it is not read. */
const MAX_PATCH_BYTES = 16 * 1024 * 1024;

/** Passes the patch on. Throws the errors of git. */
export type ReadPatch = (
  query: FilesPatchQuery,
  take: (chunk: Buffer) => void,
  signal: AbortSignal,
) => Promise<void>;

/** The files of a patch, and what is not shown of it. Throws as `readPatch`. */
export async function filesOfPatch(
  readPatch: ReadPatch,
  query: FilesPatchQuery,
  signal: AbortSignal,
): Promise<{ readonly files: readonly DiffFile[]; readonly notes: readonly string[] }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= MAX_PATCH_BYTES) chunks.push(chunk);
  };
  await readPatch(query, take, signal);
  const isCut = bytes > MAX_PATCH_BYTES;
  return {
    files: patchFiles(Buffer.concat(chunks)),
    notes: isCut ? ['The patch is longer than 16 MB: this is its beginning.'] : [],
  };
}
