// Pure.
import { shownCharacters } from '../../src/base/text.js';

/**
 * A text for a message or a prompt of the editor, with unseen characters as escapes. The editor makes links of `[text](address)`
 * there, and some of them run commands.
 */
export function messageText(text: string): string {
  return shownCharacters(text.replaceAll('\r\n', '\n')).replaceAll('](', '] (');
}

/** A text for a row of a list to choose from, where the editor makes icons of `$(name)`. */
export function rowText(text: string): string {
  return shownCharacters(text).replaceAll('$(', '$ (');
}
