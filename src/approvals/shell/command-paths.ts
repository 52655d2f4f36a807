import type { ShellWord } from './shell-part.js';
import type { Places } from '../places.js';
import { ANY_CHARACTER, ANY_TEXT, canMatch, type Token } from '../wildcard.js';

/**
 * Where the word leads as a path, from each of the folders; undefined when nobody can say before it runs. A wildcard in its
 * last name is tried on the folder's names, as the shell will do.
 */
export async function pathsOf(
  word: ShellWord,
  folders: readonly string[] | undefined,
  places: Places,
): Promise<readonly string[] | undefined> {
  if (word.kind === 'unknown' || word.hasTilde) return undefined;
  if (folders === undefined && !word.value.startsWith('/')) return undefined;
  const found: string[] = [];
  for (const folder of folders ?? ['/']) {
    if (word.kind === 'literal') found.push(await places.resolve(folder, word.value));
    else {
      const named = await globbed(word.value, folder, places);
      if (named === undefined) return undefined;
      found.push(...named);
    }
  }
  return found;
}

async function globbed(glob: string, folder: string, places: Places): Promise<readonly string[] | undefined> {
  const cut = glob.lastIndexOf('/') + 1;
  const before = glob.slice(0, cut);
  const name = glob.slice(cut);
  // Wildcards in the names of folders, and what looks like one but was quoted: not followed.
  if (/[*?[\]{}()|\\!]/.test(before) || /[{}()|\\!]/.test(name)) return undefined;
  const at = await places.resolve(folder, before === '' ? '.' : before);
  const names = await places.names(at);
  if (names === undefined) return undefined;
  const tokens = globTokens(name);
  const hits = names.filter(
    (one) => (name.startsWith('.') || !one.startsWith('.')) && canMatch(tokens, [...one]),
  );
  // A name that begins with a dash would become an option.
  if (before === '' && hits.some((hit) => hit.startsWith('-'))) return undefined;
  const found = [at];
  for (const hit of hits) found.push(await places.resolve(at, hit));
  return found;
}

/** From a `[` on any text: more names fit than the shell will take. */
function globTokens(name: string): Token[] {
  const bracket = name.indexOf('[');
  const known = bracket === -1 ? name : name.slice(0, bracket);
  const tokens = [...known].map((char) => (char === '*' ? ANY_TEXT : char === '?' ? ANY_CHARACTER : char));
  return bracket === -1 ? tokens : [...tokens, ANY_TEXT];
}
