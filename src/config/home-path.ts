/** `~` and `~/x` with the home folder in place of the `~`; anything else (also `~other`) as it is. */
export function expandHome(path: string, homeDir: string): string {
  return path === '~' || path.startsWith('~/') ? homeDir + path.slice(1) : path;
}
