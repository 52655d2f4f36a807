import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

/** The kernel's limit (path_resolution(7)). */
const MAX_LINKS = 40;

export interface Walk {
  /** The path with every link resolved, including dangling ones; parts that do not exist yet stay as written. */
  readonly real: string;
  readonly exists: boolean;
  /** The target of the last link from inside the allowed folders to outside, with the rest of the path appended. */
  readonly ledTo: string | undefined;
  /** System error code that stopped the walk; `real` is then the path where it stopped. */
  readonly error: string | undefined;
}

/**
 * Follows an absolute, normalized path link by link. `realpath` is not enough for a path that does not exist yet: a dangling
 * link looks like an unused name, but a file created there is created at the link's target.
 */
export async function walkPath(path: string, isInside: (real: string) => boolean): Promise<Walk> {
  let current = '/';
  let left = segmentsOf(path);
  let links = 0;
  let ledTo: string | undefined;
  while (left.length > 0) {
    const [segment = '', ...rest] = left;
    const next = segment === '..' ? dirname(current) : join(current, segment);
    let target: string | undefined;
    try {
      target = (await lstat(next)).isSymbolicLink() ? await readlink(next) : undefined;
    } catch (thrown) {
      const code = codeOf(thrown);
      const real = resolve(next, ...rest);
      const missing = code === 'ENOENT' || code === 'ENOTDIR';
      // The existing part gets the file system's own spelling.
      if (missing)
        return {
          real: resolve(await spelled(current), segment, ...rest),
          exists: false,
          ledTo,
          error: undefined,
        };
      return { real, exists: false, ledTo, error: code };
    }
    if (target === undefined) {
      current = next;
      left = rest;
      continue;
    }
    if (++links > MAX_LINKS) return { real: next, exists: false, ledTo, error: 'ELOOP' };
    const pointsTo = resolve(current, target, ...rest);
    if (isInside(next) && !isInside(pointsTo)) ledTo = pointsTo;
    if (target.startsWith(sep)) current = '/';
    left = [...segmentsOf(target), ...rest];
  }
  return { real: await spelled(current), exists: true, ledTo, error: undefined };
}

/** The file system's own spelling: where case is ignored, two spellings would count as two projects. */
async function spelled(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (thrown) {
    // It was removed or became inaccessible after the walk, so it keeps the walk's spelling.
    codeOf(thrown);
    return path;
  }
}

function segmentsOf(path: string): string[] {
  return path.split(sep).filter((segment) => segment !== '' && segment !== '.');
}

/** Rethrows an error without a system code: it is a bug. */
function codeOf(thrown: unknown): string {
  const code = systemCodeOf(thrown);
  if (code === undefined) throw thrown;
  return code;
}
