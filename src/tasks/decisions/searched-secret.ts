import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { realPathOfNearest } from '../../projects/real-path.js';
import { systemCodeOf } from '../../base/errors.js';
import { isSecret } from '../../projects/secret-names.js';

/** Names that are read before a search is asked about instead. */
const MAX_NAMES = 20_000;
/** What packages and git keep for themselves is not looked through; `.git` is not searched by Claude Code either. */
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', 'node_modules']);
/**
 * Why a search may print secrets, in words; undefined when it may not. `Grep` prints what it finds, also in files that the
 * request does not name.
 */
export async function searchedSecret(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  projectPath: string,
): Promise<string | undefined> {
  if (tool !== 'Grep') return undefined;
  const named = input['path'];
  const path = typeof named === 'string' && named !== '' ? named : '.';
  const folder = await realPathOfNearest(resolve(projectPath, path));
  const names = { left: MAX_NAMES };
  const found = await secretBelow(folder, projectPath, names);
  if (found !== undefined) return `${relative(projectPath, found)} is in the folder that it searches`;
  return names.left < 0 ? 'the folder that it searches holds too many files to look for secrets' : undefined;
}

async function secretBelow(
  folder: string,
  projectPath: string,
  names: { left: number },
): Promise<string | undefined> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(nothingThere);
  names.left -= entries.length;
  if (names.left < 0) return undefined;
  const secret = entries.find((entry) => isSecret(join(folder, entry.name), projectPath));
  if (secret !== undefined) return join(folder, secret.name);
  for (const entry of entries) {
    if (!entry.isDirectory() || PASSED_OVER.has(entry.name)) continue;
    const found = await secretBelow(join(folder, entry.name), projectPath, names);
    if (found !== undefined || names.left < 0) return found;
  }
  return undefined;
}

/** A file, or something that cannot be read: its own name decides. */
function nothingThere(error: unknown): [] {
  if (systemCodeOf(error) === undefined) throw error;
  return [];
}
