// Pure: where in a project a path lies.
import { isAbsolute, normalize, relative, sep } from 'node:path';

/** True for a resolved absolute path below `projectPath`; the project's own folder and unresolved paths are not. */
export function isInsideProject(projectPath: string, path: string): boolean {
  if (!isAbsolute(path) || normalize(path) !== path) return false;
  const way = relative(projectPath, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`);
}
