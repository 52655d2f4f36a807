// Pure.
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { BridgeError } from '../base/errors.js';
import type { FilesPatchQuery } from '../git/diff/files-patch.js';
import type { TaskPatch } from '../tasks/receipt/task-patch.js';
import type { TaskRecord } from '../tasks/task.js';
import { filesOfPatch, type ReadPatch } from './patch-files.js';
import type { FileText } from './protocol.js';

/** Of a larger file a page gets only where it is. */
const MAX_TEXT_BYTES = 2 * 1024 * 1024;

/** The bytes of a file before or after a patch; undefined when it did not exist. Throws FILE_TOO_LARGE, and the errors of git. */
export type ReadSide = (
  query: FilesPatchQuery & {
    readonly file: string;
    readonly side: 'old' | 'new';
    readonly maxBytes: number;
  },
  signal: AbortSignal,
) => Promise<Buffer | undefined>;

export interface TextSources {
  readonly patchOf: (record: TaskRecord) => Promise<TaskPatch>;
  readonly readPatch: ReadPatch;
  readonly readSide: ReadSide;
}

interface WantedSide {
  readonly file: string;
  readonly side: 'old' | 'new';
}

const noAbort = new AbortController().signal;

/**
 * The text of a file that a task changed, as it was before or is now. Throws INVALID_ARGUMENTS for a file that is not in the patch,
 * and as `patchOf`, `readPatch` and `readSide`.
 */
export async function changedText(
  sources: TextSources,
  record: TaskRecord,
  { file, side }: WantedSide,
): Promise<FileText> {
  const patch = await sources.patchOf(record);
  if (patch.state === 'nothing' || !(await isInPatch(sources.readPatch, patch.query, { file, side }))) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'The file is not one that the task changed.',
      'Read the changes again.',
    );
  }
  const { query } = patch;
  const path = side === 'new' && query.end === undefined ? join(query.repository, file) : null;
  try {
    const bytes = await sources.readSide({ ...query, file, side, maxBytes: MAX_TEXT_BYTES }, noAbort);
    if (bytes === undefined) return { text: null, path: null, why: 'missing' };
    const text = textOf(bytes);
    return { text: text ?? null, path, why: text === undefined ? 'binary' : null };
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    if (error.code === 'FILE_TOO_LARGE') return { text: null, path, why: 'too_large' };
    if (error.code === 'PATH_NOT_FOUND') return { text: null, path: null, why: 'missing' };
    throw error;
  }
}

/** A query that names no files is of all that differ: git says which these are. */
async function isInPatch(
  readPatch: ReadPatch,
  query: FilesPatchQuery,
  { file, side }: WantedSide,
): Promise<boolean> {
  if (query.files !== undefined) return query.files.includes(file);
  const { files } = await filesOfPatch((take) => readPatch(query, take, noAbort));
  return files.some(({ path, old_path: oldPath = path }) => (side === 'old' ? oldPath : path) === file);
}

/** Undefined for bytes that are not the UTF-8 of a text. */
function textOf(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return bytes.toString('utf8');
}
