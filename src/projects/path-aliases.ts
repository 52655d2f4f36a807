import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreSystemError } from '../base/errors.js';
import { realPathOfNearest } from './real-path.js';

/**
 * Other names of the paths through links in `folder` and in its `.git`: if `CLAUDE.md` is a link to `docs/agents.md`, the alias
 * of `docs/agents.md` is `CLAUDE.md`. `paths` are absolute, with links resolved.
 */
export async function aliasesOf(paths: readonly string[], folder: string): Promise<string[]> {
  const links = await Promise.all([linksIn(folder), linksIn(join(folder, '.git'))]);
  const aliases = links.flat().map(async (link) => {
    const target = await realPathOfNearest(link);
    return paths
      .filter((path) => path === target || path.startsWith(`${target}/`))
      .map((path) => link + path.slice(target.length));
  });
  return (await Promise.all(aliases)).flat();
}

async function linksIn(folder: string): Promise<string[]> {
  // A folder that is missing or unreadable has no known links.
  const entries = (await readdir(folder, { withFileTypes: true }).catch(ignoreSystemError)) ?? [];
  return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
}
