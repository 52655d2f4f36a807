import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { realPathOfNearest } from '../approvals/real-path.js';
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
  return Promise.all(named.map((path) => realPathOfNearest(resolve(projectPath, path))));
}

/**
 * What the paths are called by the links in the project's own folder: with `CLAUDE.md` a link to `docs/agents.md`, an edit of
 * that file is one of `CLAUDE.md`. `paths` are absolute with links resolved.
 */
export async function aliasesOf(paths: readonly string[], projectPath: string): Promise<string[]> {
  const entries = await readdir(projectPath, { withFileTypes: true }).catch((fault: unknown) => {
    if (systemCodeOf(fault) === undefined) throw fault;
    // What cannot be looked at has no links that are known.
    return [];
  });
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(projectPath, name));
  const aliases = links.map(async (link) => {
    const target = await realPathOfNearest(link);
    return paths
      .filter((path) => path === target || path.startsWith(`${target}/`))
      .map((path) => link + path.slice(target.length));
  });
  return (await Promise.all(aliases)).flat();
}
