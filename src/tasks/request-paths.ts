import { readlink, realpath } from 'node:fs/promises';
import { dirname, join, resolve, basename } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

/** Input fields of tools that name a path. */
const pathFields = ['file_path', 'notebook_path', 'path'] as const;

/**
 * Every path that a tool call names, absolute and with its links resolved; of what does not exist yet, those of its
 * nearest existing parent. For a pattern, the folder before its first wildcard.
 */
export async function requestPaths(
  input: Readonly<Record<string, unknown>>,
  projectPath: string,
): Promise<string[]> {
  const named = pathFields.flatMap((field) => {
    const value = input[field];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
  const pattern = input['pattern'];
  if (typeof pattern === 'string' && pattern.includes('/')) named.push(pattern.split(/[*?[{]/)[0] ?? '');
  return Promise.all(named.map((path) => realpathOfNearest(resolve(projectPath, path))));
}

/** Links that are followed before a path is given up as a loop, as Linux does. */
const MAX_LINKS = 40;

async function realpathOfNearest(path: string, linksLeft = MAX_LINKS): Promise<string> {
  try {
    return await realpath(path);
  } catch (fault) {
    const parent = dirname(path);
    const isMissing = systemCodeOf(fault) === 'ENOENT';
    // A loop of links, or a folder that cannot be entered, leads nobody knows where: no rule finds `/` in a project.
    if (!isMissing || parent === path || linksLeft === 0) return '/';
    const target = await linkTarget(path);
    // A dangling link: writing through it makes the file that it names.
    if (target !== undefined) return realpathOfNearest(resolve(parent, target), linksLeft - 1);
    return join(await realpathOfNearest(parent, linksLeft - 1), basename(path));
  }
}

/** What a link says, or undefined for anything that is no link. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (fault) {
    const code = systemCodeOf(fault);
    if (code === 'EINVAL' || code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw fault;
  }
}
