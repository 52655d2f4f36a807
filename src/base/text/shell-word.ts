/** What a shell reads as it stands. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word of a command line, quoted where a shell needs it. `~` stands only where a shell replaces it, which it does outside quotes. */
export function shellWord(path: string, homeDir: string): string {
  if (!PLAIN.test(path)) return `'${path.replaceAll("'", String.raw`'\''`)}'`;
  return homeDir !== '/' && path.startsWith(`${homeDir}/`) ? `~${path.slice(homeDir.length)}` : path;
}
