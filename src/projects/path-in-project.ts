/** Pure: the path relative to the project; unchanged when it is outside or the project folder itself. */
export function pathInProject(path: string, projectPath: string): string {
  return path.startsWith(`${projectPath}/`) ? path.slice(projectPath.length + 1) : path;
}
