import type { FolderWalk, WalkedFolder } from '../list/walk-folder.js';
import type { NotSearched } from './not-searched.js';

/** The files and links that a walk shows, as relative paths, in batches without order. Folders without entries are added to `skipped`. */
export async function* shownFiles(walk: FolderWalk, skipped: NotSearched): AsyncGenerator<readonly string[]> {
  yield* filesBelow(walk, skipped, await walk.first());
}

async function* filesBelow(
  walk: FolderWalk,
  skipped: NotSearched,
  folder: WalkedFolder,
): AsyncGenerator<readonly string[]> {
  const prefix = folder.relative === '' ? '' : `${folder.relative}/`;
  yield folder.entries
    .filter(({ type }) => type === 'file' || type === 'symlink')
    .map(({ name }) => `${prefix}${name}`);
  for (const { name, isFolder } of folder.entries) {
    if (!isFolder) continue;
    const below = await walk.below(folder, name);
    skipped.addFolder(below.relative, below.note);
    yield* filesBelow(walk, skipped, below);
    walk.close(below);
  }
  if (walk.pause.isDue()) await walk.pause.wait();
}
