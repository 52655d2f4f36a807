import type { FolderWalk, WalkedFolder } from '../list/walk-folder.js';

/** The files and links that a walk shows, as relative paths, in batches without order. */
export async function* shownFiles(walk: FolderWalk): AsyncGenerator<readonly string[]> {
  yield* filesBelow(walk, await walk.first());
}

async function* filesBelow(walk: FolderWalk, folder: WalkedFolder): AsyncGenerator<readonly string[]> {
  const prefix = folder.relative === '' ? '' : `${folder.relative}/`;
  yield folder.entries
    .filter(({ type }) => type === 'file' || type === 'symlink')
    .map(({ name }) => `${prefix}${name}`);
  for (const { name, isFolder } of folder.entries) {
    if (!isFolder) continue;
    const below = await walk.below(folder, name);
    yield* filesBelow(walk, below);
    walk.close(below);
  }
  if (walk.pause.isDue()) await walk.pause.wait();
}
