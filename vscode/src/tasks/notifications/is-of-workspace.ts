// Pure.
/** Whether the folder of a task is one of the window's, is in one, or has one in it. */
export function isOfWorkspace(project: string | undefined, folders: readonly string[]): boolean {
  if (project === undefined) return false;
  return folders.some(
    (folder) =>
      folder === project || project.startsWith(withSlash(folder)) || folder.startsWith(withSlash(project)),
  );
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
