import { resolve } from 'node:path';
import { realPathOfNearest } from '../../projects/real-path.js';

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
  return Promise.all(named.map((path) => realPathOfNearest(resolve(projectPath, path))));
}
