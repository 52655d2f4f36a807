import { realpath } from 'node:fs/promises';
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

async function realpathOfNearest(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (fault) {
    const parent = dirname(path);
    // A loop of links or a folder that cannot be entered stays as it is named: no rule finds it in the project then.
    if (systemCodeOf(fault) !== 'ENOENT' || parent === path) return path;
    return join(await realpathOfNearest(parent), basename(path));
  }
}
