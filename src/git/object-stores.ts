import { join, resolve } from 'node:path';
import { BridgeError } from '../base/errors.js';
import { readRegularFile } from '../base/regular-file.js';
import type { AllowedPath, AllowedRoots } from '../projects/allowed-roots.js';
import { unquoted } from './patch-name.js';

/** As deep as git follows alternates of alternates. */
const MAX_DEPTH = 5;
const MAX_ALTERNATES_BYTES = 65_536;
const MAX_STORES = 50;

/**
 * Sees that the objects of a repository, and of all repositories that it borrows from, lie in the roots: a commit could
 * show files of another repository otherwise. Throws PATH_NOT_ALLOWED.
 */
export async function checkObjectStores(roots: AllowedRoots, commonDir: AllowedPath): Promise<void> {
  const seen = new Set<string>();
  let level: readonly string[] = [join(commonDir, 'objects')];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const store of level) {
      const real = await roots.resolve(store);
      if (seen.has(real)) continue;
      seen.add(real);
      if (seen.size > MAX_STORES)
        throw refused(commonDir, `it borrows from more than ${MAX_STORES} repositories`);
      next.push(
        ...(await alternatesOf(commonDir, await roots.resolve(join(real, 'info', 'alternates')), real)),
      );
    }
    level = next;
  }
}

async function alternatesOf(commonDir: AllowedPath, file: AllowedPath, store: string): Promise<string[]> {
  const read = await readRegularFile(file, MAX_ALTERNATES_BYTES);
  if (read.state === 'missing') return [];
  if (read.state === 'refused') throw refused(commonDir, `of its list of alternates, ${read.why}`);
  return read.bytes
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => resolve(store, unquoted(line).toString('utf8')));
}

function refused(commonDir: AllowedPath, why: string): BridgeError {
  return new BridgeError(
    'NOT_A_REPOSITORY',
    `The repository '${commonDir}' is not looked at: ${why}.`,
    'Look at it in a terminal.',
  );
}
