import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

/** Links that are followed before a path is given up as a loop, as Linux does. */
const MAX_LINKS = 40;

/** `path` (absolute) with its links resolved; of what does not exist yet, those of its nearest existing parent. */
export async function realPathOfNearest(path: string, linksLeft = MAX_LINKS): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    const isMissing = systemCodeOf(error) === 'ENOENT';
    // A loop of links, or a folder that cannot be entered, leads nobody knows where: no rule finds `/` in a project.
    if (!isMissing || parent === path || linksLeft === 0) return '/';
    const target = await linkTarget(path);
    // A dangling link: writing through it makes the file that it names.
    if (target !== undefined) return realPathOfNearest(resolve(parent, target), linksLeft - 1);
    return join(await realPathOfNearest(parent, linksLeft - 1), basename(path));
  }
}

/** What a link says, or undefined for anything that is no link. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'EINVAL' || code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
