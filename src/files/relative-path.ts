// Pure: paths relative to a folder, `''` or `a/b`.

/** The folder that `path` is in; `''` for what is in none. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The last part of `path`. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The folders on the way to `paths`, but those that `isKnown`: each behind the one that it is in. */
export function foldersAbove(
  paths: readonly string[],
  isKnown: (folder: string) => boolean = () => false,
): ReadonlySet<string> {
  const folders = new Set<string>();
  const add = (folder: string): void => {
    if (folder === '' || folders.has(folder) || isKnown(folder)) return;
    add(folderOf(folder));
    folders.add(folder);
  };
  for (const path of paths) add(folderOf(path));
  return folders;
}
