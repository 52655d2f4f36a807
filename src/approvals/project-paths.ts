// Pure: where in a project a path lies, and whether what lies there runs by itself later.
import { isAbsolute, normalize, relative, sep } from 'node:path';
import { runsLater as isLivePath } from '../projects/live-names.js';

/** True for a resolved absolute path below `projectPath`; the project's own folder and unresolved paths are not. */
export function isInsideProject(projectPath: string, path: string): boolean {
  if (!isAbsolute(path) || normalize(path) !== path) return false;
  const way = relative(projectPath, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`);
}

/** True when writing the path can make something run, or be allowed, at the next start of a program. */
export function runsLater(projectPath: string, path: string): boolean {
  return isLivePath(path, projectPath);
}
