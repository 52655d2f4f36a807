import { shownCharacters } from '../../src/base/text/unseen-characters.js';

/** A text as it really is: characters that could hide or reorder a part of it stand as escapes. */
export function visible(text: string): string {
  return shownCharacters(text);
}
