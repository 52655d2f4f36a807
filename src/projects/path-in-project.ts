// Pure: where a path lies.
import { sep } from 'node:path';

/** The path relative to the project; unchanged when it is outside or the project folder itself. */
export function pathInProject(path: string, projectPath: string): string {
  return path.startsWith(`${projectPath}/`) ? path.slice(projectPath.length + 1) : path;
}

/** True when `path` is `folder` or inside it; both must be absolute and normalized. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? sep : folder + sep);
}
