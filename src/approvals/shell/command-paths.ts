import type { ShellWord } from './shell-part.js';
import type { PathLookup } from '../path-lookup.js';
import { ANY_CHARACTER, ANY_TEXT, canMatch, type Token } from '../wildcard.js';

/**
 * The real paths that the word may name, resolved from each of the folders; undefined when they are known only at run time. A
 * wildcard in the last name is expanded as the shell would.
 */
export async function pathsOf(
  word: ShellWord,
  folders: readonly string[] | undefined,
  fs: PathLookup,
): Promise<readonly string[] | undefined> {
  if (word.kind === 'unknown' || word.hasTilde) return undefined;
  if (folders === undefined && !word.value.startsWith('/')) return undefined;
  const found: string[] = [];
  for (const folder of folders ?? ['/']) {
    if (word.kind === 'literal') found.push(await fs.resolve(folder, word.value));
    else {
      const named = await expand(word.value, folder, fs);
      if (named === undefined) return undefined;
      found.push(...named);
    }
  }
  return found;
}

async function expand(glob: string, folder: string, fs: PathLookup): Promise<readonly string[] | undefined> {
  const cut = glob.lastIndexOf('/') + 1;
  const before = glob.slice(0, cut);
  const name = glob.slice(cut);
  // Wildcards in folder names are not expanded, nor are quoted characters that look like wildcards.
  if (/[*?[\]{}()|\\!]/.test(before) || /[{}()|\\!]/.test(name)) return undefined;
  const at = await fs.resolve(folder, before === '' ? '.' : before);
  const names = await fs.names(at);
  if (names === undefined) return undefined;
  const tokens = globTokens(name);
  const hits = names.filter(
    (one) => (name.startsWith('.') || !one.startsWith('.')) && canMatch(tokens, [...one]),
  );
  // A file name that begins with a dash would become an option.
  if (before === '' && hits.some((hit) => hit.startsWith('-'))) return undefined;
  const found = [at];
  for (const hit of hits) found.push(await fs.resolve(at, hit));
  return found;
}

/** Matches any text from a `[` on, which is more names than the shell would match. */
function globTokens(name: string): Token[] {
  const bracket = name.indexOf('[');
  const known = bracket === -1 ? name : name.slice(0, bracket);
  const tokens = [...known].map((char) => (char === '*' ? ANY_TEXT : char === '?' ? ANY_CHARACTER : char));
  return bracket === -1 ? tokens : [...tokens, ANY_TEXT];
}
