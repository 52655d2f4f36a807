// Pure: the name that a misspelt one was probably meant to be.
import { distance } from 'fastest-levenshtein';

/** More than three wrong letters, or half of them, is another word. */
const MAX_WRONG_LETTERS = 3;
/** Longer ones are no misspelling, and comparing them takes time that grows with their length. */
const MAX_NAME_CHARS = 100;

export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_CHARS) return undefined;
  let best: string | undefined;
  let fewest = MAX_WRONG_LETTERS + 1;
  for (const candidate of known) {
    const wrong = distance(name, candidate);
    if (wrong >= fewest || wrong * 2 > candidate.length) continue;
    best = candidate;
    fewest = wrong;
  }
  return best;
}
