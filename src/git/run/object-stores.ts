import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import type { AllowedPath, AllowedRoots } from '../../projects/allowed-roots.js';
import { unquoted } from '../diff/patch-name.js';
import type { Repository } from './repository.js';

/** The depth to which git follows alternates of alternates. */
const MAX_DEPTH = 5;
const MAX_ALTERNATES_BYTES = 65_536;
const MAX_STORES = 50;
/** Depth of the folders in an object store: `ab`, `pack`, `info/commit-graphs`. */
const MAX_FOLDER_DEPTH = 2;
/** Size of a folder itself, about fifty bytes per name: far more objects than git leaves unpacked. */
const MAX_FOLDER_BYTES = 4_000_000;
/** Entries of a git folder that reveal names, commits or contents. Other links, such as `hooks` and `config`, are harmless here. */
const REVEALING = /^(?:index|sharedindex\..*|(?:.*_)?HEAD|packed-refs|refs|logs|shallow|objects)$/s;

/** Node's replacement for bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';

/**
 * Checks that a repository and its alternates are inside the allowed roots: through a link or an alternate, a commit could show
 * files of another repository. Throws PATH_NOT_ALLOWED for one that leads out, NOT_A_REPOSITORY when the check is not possible.
 */
export async function checkStores(roots: AllowedRoots, { gitDir, commonDir }: Repository): Promise<void> {
  const folders = gitDir === commonDir ? [commonDir] : [commonDir, gitDir];
  await Promise.all([
    ...folders.map((folder) => checkLinks(roots, folder, REVEALING)),
    checkAlternates(roots, commonDir),
  ]);
}

async function checkAlternates(roots: AllowedRoots, commonDir: AllowedPath): Promise<void> {
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
      await checkFolder(roots, real, 0);
      const alternates = await roots.resolve(join(real, 'info', 'alternates'));
      next.push(...(await alternatesOf(commonDir, alternates, real)));
    }
    level = next;
  }
}

async function checkFolder(roots: AllowedRoots, folder: string, depth: number): Promise<void> {
  const facts = await factsOf(folder);
  if (facts?.isDirectory() !== true) return;
  if (facts.size > MAX_FOLDER_BYTES) throw refused(folder, 'it contains too many files to check');
  const folders = await checkLinks(roots, folder);
  if (depth < MAX_FOLDER_DEPTH)
    await Promise.all(folders.map((inner) => checkFolder(roots, inner, depth + 1)));
}

/** The subfolders of a folder, and the targets of its links. */
async function checkLinks(roots: AllowedRoots, folder: string, names?: RegExp): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const { name } = entry;
    if (entry.isDirectory()) found.push(join(folder, name));
    if (!entry.isSymbolicLink() || names?.test(name) === false) continue;
    // As text, the name would refer to another file than the one that git reads.
    if (name.includes(REPLACEMENT)) throw refused(folder, 'a link in it has a name that is not UTF-8');
    found.push(await roots.resolve(join(folder, name)));
  }
  return found;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    if (code === 'ENOENT') return [];
    throw refused(folder, `it cannot be listed (${code})`);
  }
}

async function factsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (thrown) {
    // A missing folder reveals nothing, and a folder that is not accessible is not accessible to git either.
    if (systemCodeOf(thrown) === undefined) throw thrown;
    return undefined;
  }
}

async function alternatesOf(commonDir: AllowedPath, file: AllowedPath, store: string): Promise<string[]> {
  const read = await readRegularFile(file, MAX_ALTERNATES_BYTES);
  if (read.state === 'missing') return [];
  if (read.state === 'refused') throw refused(commonDir, `its alternates cannot be read: ${read.why}`);
  return read.bytes
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => resolve(store, unquoted(line).toString('utf8')));
}

function refused(folder: string, why: string): BridgeError {
  return new BridgeError(
    'NOT_A_REPOSITORY',
    `The repository '${folder}' is refused: ${why}.`,
    'Inspect it in a terminal.',
  );
}
