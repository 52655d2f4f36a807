import { lstat, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BridgeError, ignoreSystemError, systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import type { AllowedRoots } from '../../projects/allowed-roots.js';
import { unquoted } from '../diff/patch-text.js';
import type { Repository } from './repository.js';

const MAX_ALTERNATES_BYTES = 65_536;
/** git follows alternates of alternates to a depth of five. */
const MAX_STORES = 50;
/** Depth of the folders in an object store: `ab`, `pack`, `info/commit-graphs`. */
const STORE_DEPTH = 2;
/** Size of a folder itself, about fifty bytes per name: far more objects than git leaves unpacked. */
const MAX_FOLDER_BYTES = 4_000_000;
/** Entries of a git folder that reveal names, commits or contents. Other links, such as `hooks` and `config`, are harmless here. */
const REVEALING = /^(?:index|sharedindex\..*|(?:.*_)?HEAD|packed-refs|refs|logs|shallow|objects)$/s;

/**
 * Checks that a repository and its alternates are inside the allowed roots: through a link or an alternate, a commit could show
 * files of another repository. Throws PATH_NOT_ALLOWED for one that leads out, NOT_A_REPOSITORY when the check is not possible.
 */
export async function checkStores(roots: AllowedRoots, { gitDir, commonDir }: Repository): Promise<void> {
  for (const folder of new Set([commonDir, gitDir])) await checkFolder(roots, folder, 0, REVEALING);
  const stores = new Set<string>([await roots.resolve(join(commonDir, 'objects'))]);
  // What is added to a set during the loop is visited, too.
  for (const store of stores) {
    if (stores.size > MAX_STORES)
      throw refused(commonDir, `it borrows from more than ${MAX_STORES} repositories`);
    await checkFolder(roots, store, STORE_DEPTH);
    const path = join(store, 'info', 'alternates');
    if ((await lstat(path).catch(ignoreSystemError)) === undefined) continue;
    const alternates = await roots.resolve(path);
    const read = await readRegularFile(alternates, MAX_ALTERNATES_BYTES);
    if (read.state === 'refused') throw refused(commonDir, `its alternates cannot be read: ${read.why}`);
    const lines = read.state === 'ok' ? read.bytes.toString('latin1').split('\n') : [];
    for (const line of lines)
      if (line !== '' && !line.startsWith('#'))
        stores.add(await roots.resolve(resolve(store, unquoted(line).toString('utf8'))));
  }
}

/** Checks where the links in a folder lead, those with such names; down to a depth also in its folders and behind its links. */
async function checkFolder(roots: AllowedRoots, folder: string, depth: number, names = /^/): Promise<void> {
  // A missing folder reveals nothing, and a folder that is not accessible is not accessible to git either.
  const facts = await lstat(folder).catch(ignoreSystemError);
  if (facts?.isDirectory() !== true) return;
  if (facts.size > MAX_FOLDER_BYTES) throw refused(folder, 'it contains too many files to check');
  const entries = await readdir(folder, { withFileTypes: true }).catch((thrown: unknown) => {
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT') return [];
    throw code === undefined ? thrown : refused(folder, `it cannot be listed (${code})`);
  });
  const inner: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) inner.push(path);
    if (!entry.isSymbolicLink() || !names.test(entry.name)) continue;
    // As text, a name with bytes that are not UTF-8 would refer to another file than the one that git reads.
    if (path.includes('\ufffd')) throw refused(folder, 'a link in it has a name that is not UTF-8');
    inner.push(await roots.resolve(path));
  }
  if (depth > 0) await Promise.all(inner.map((path) => checkFolder(roots, path, depth - 1)));
}

function refused(folder: string, why: string): BridgeError {
  return new BridgeError(
    'NOT_A_REPOSITORY',
    `The repository '${folder}' is refused: ${why}.`,
    'Inspect it in a terminal.',
  );
}
