/** Pure: the path from the project on; the whole path when it is outside, or is the project's folder itself. */
export function pathInProject(path: string, projectPath: string): string {
  return path.startsWith(`${projectPath}/`) ? path.slice(projectPath.length + 1) : path;
}
