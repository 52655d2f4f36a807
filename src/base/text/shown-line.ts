// Pure.
import { oneLine } from './text.js';
import { shownCharacters } from './unseen-characters.js';

/** `text` on one line with each unseen character escaped, at most `maxChars` long with `…` at a cut. */
export function shownLine(text: string, maxChars = Number.MAX_SAFE_INTEGER): string {
  return oneLine(shownCharacters(text.replace(/\r\n?/g, '\n')), maxChars);
}
