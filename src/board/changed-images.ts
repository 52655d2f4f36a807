import { BridgeError } from '../base/errors.js';
import type { FilesPatchQuery } from '../git/diff/files-patch.js';
import type { TaskPatch } from '../tasks/receipt/task-patch.js';
import type { TaskRecord } from '../tasks/task.js';
import { imageType } from './image-type.js';
import type { ImageSide } from './protocol.js';

/** Of a larger file a page gets only why it is not shown. */
const MAX_IMAGE_BYTES = 2 * 1024 * 1024;

/** The bytes of a file before or after a patch; undefined when it did not exist. Throws FILE_TOO_LARGE, and the errors of git. */
export type ReadSide = (
  query: FilesPatchQuery & {
    readonly file: string;
    readonly side: 'old' | 'new';
    readonly maxBytes: number;
  },
  signal: AbortSignal,
) => Promise<Buffer | undefined>;

export interface ImageSources {
  readonly patchOf: (record: TaskRecord) => Promise<TaskPatch>;
  readonly readSide: ReadSide;
}

const noAbort = new AbortController().signal;

/** An image that a task changed, as it was before or is now. Throws INVALID_ARGUMENTS for a file that is no image, and as `patchOf` and `readSide`. */
export async function changedImage(
  { patchOf, readSide }: ImageSources,
  record: TaskRecord,
  { file, side }: { readonly file: string; readonly side: 'old' | 'new' },
): Promise<ImageSide> {
  const patch = await patchOf(record);
  if (patch.state === 'nothing')
    throw new BridgeError('INVALID_ARGUMENTS', patch.why, 'Read the changes again.');
  const bytes = await readSide({ ...patch.query, file, side, maxBytes: MAX_IMAGE_BYTES }, noAbort);
  if (bytes === undefined) return { url: null, bytes: 0 };
  const type = imageType(bytes);
  if (type !== undefined)
    return { url: `data:${type};base64,${bytes.toString('base64')}`, bytes: bytes.length };
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    'The file is not an image that a browser shows: its first bytes are of another kind.',
    'Open it in another program.',
  );
}
