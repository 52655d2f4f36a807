// Pure: the name that a misspelt one was probably meant to be.

/** More than three wrong letters, or half of them, is another word. */
const MAX_WRONG_LETTERS = 3;
/** Longer ones are no misspelling, and comparing them takes time that grows with their length. */
const MAX_NAME_CHARS = 100;

export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_CHARS) return undefined;
  let best: string | undefined;
  let fewest = MAX_WRONG_LETTERS + 1;
  for (const candidate of known) {
    const wrong = wrongLetters(name, candidate);
    if (wrong >= fewest || wrong * 2 > candidate.length) continue;
    best = candidate;
    fewest = wrong;
  }
  return best;
}

/** The Levenshtein distance: letters to insert, delete or replace. */
function wrongLetters(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
