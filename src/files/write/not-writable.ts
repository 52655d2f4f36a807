import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';

const SHOWN_CHARS = 400;

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is exceeded'],
  ['EROFS', 'the file system is read-only'],
  ['EACCES', 'permission is denied'],
  ['EPERM', 'the system does not permit it'],
  ['ENAMETOOLONG', 'its name is too long'],
]);

/** Converts a system error of writing; rethrows any other error. */
export function notWritable(path: string, thrown: unknown): BridgeError {
  const code = systemCodeOf(thrown);
  if (code === undefined) throw thrown;
  return new BridgeError(
    'NOT_WRITABLE',
    `Path '${oneLine(path, SHOWN_CHARS)}' cannot be written: ${REASONS.get(code) ?? code}.`,
    'Correct the path, or ask the user to make it writable.',
    { cause: thrown },
  );
}
