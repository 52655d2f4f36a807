// Pure: whether a path is inside a project.
import { isAbsolute, normalize, relative, sep } from 'node:path';

/** True for a resolved absolute path below `projectPath`; false for the project folder itself and for unresolved paths. */
export function isInsideProject(projectPath: string, path: string): boolean {
  if (!isAbsolute(path) || normalize(path) !== path) return false;
  const below = relative(projectPath, path);
  return below !== '' && below !== '..' && !below.startsWith(`..${sep}`);
}
