// Pure: finds the known name that a misspelt one most resembles.
import { distance } from 'fastest-levenshtein';

/** With more than three wrong letters, or more than half of them, it is another word. */
const MAX_WRONG_LETTERS = 3;
/** Longer ones are not misspellings, and comparing takes time that grows with their length. */
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
