import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

/** Links that are followed before a path counts as a loop; the limit of Linux. */
const MAX_LINKS = 40;

/** The absolute `path` with links resolved; if it does not exist yet, with those of its nearest existing parent resolved. */
export async function realPathOfNearest(path: string, linksLeft = MAX_LINKS): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    const isMissing = systemCodeOf(error) === 'ENOENT';
    // The target of a link loop or of a path in an inaccessible folder is unknown. `/` is never inside a project.
    if (!isMissing || parent === path || linksLeft === 0) return '/';
    const target = await linkTarget(path);
    // Writing through a dangling link creates the file that it names.
    if (target !== undefined) return realPathOfNearest(resolve(parent, target), linksLeft - 1);
    return join(await realPathOfNearest(parent, linksLeft - 1), basename(path));
  }
}

/** The target of a link, or undefined for anything else. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'EINVAL' || code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
