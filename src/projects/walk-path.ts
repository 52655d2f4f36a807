import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

/** As many as the kernel follows (path_resolution(7)). */
const MAX_LINKS = 40;

export interface Walk {
  /** The path with every link resolved, also links to nothing; what does not exist yet is kept as written. */
  readonly real: string;
  readonly exists: boolean;
  /** Where the last link that led out of the allowed folders points, with the rest of the path: never learned from outside. */
  readonly ledTo: string | undefined;
  /** System error code that ended the walk early; `real` is then where it ended. */
  readonly error: string | undefined;
}

/**
 * Follows an absolute, normalized path link by link. `realpath` alone would not do: for a path that does not exist yet a link
 * to nothing looks like a free name, and what is then created lies where the link points.
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
      // What exists is spelled as the file system spells it, also when more is to come.
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

/** True when `path` is `folder` or lies in it; both absolute and normalized. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? sep : folder + sep);
}

/** On a file system that ignores case, two spellings would be two projects. */
async function spelled(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (thrown) {
    // Gone, or closed to us, since the walk saw it: it keeps the name that the walk found.
    codeOf(thrown);
    return path;
  }
}

function segmentsOf(path: string): string[] {
  return path.split(sep).filter((segment) => segment !== '' && segment !== '.');
}

/** Anything without a system code is an error of the program and goes on its way. */
function codeOf(thrown: unknown): string {
  const code = systemCodeOf(thrown);
  if (code === undefined) throw thrown;
  return code;
}
