// Pure: the name that a misspelt one was probably meant to be.
import { closest, distance } from 'fastest-levenshtein';

/** More than three wrong letters, or half of them, is another word. */
const MAX_WRONG_LETTERS = 3;
/** Longer ones are no misspelling, and comparing them takes time that grows with their length. */
const MAX_NAME_CHARS = 100;

export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || name.length > MAX_NAME_CHARS) return undefined;
  const near = closest(name, [...known]);
  const wrong = distance(name, near);
  return wrong <= MAX_WRONG_LETTERS && wrong * 2 <= near.length ? near : undefined;
}
