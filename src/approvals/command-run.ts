// Pure: what a command runs besides itself.
import type { Hazard, ShellWord } from './shell-part.js';

/** A command that another one runs. */
export type Run =
  | { readonly kind: 'words'; readonly words: readonly ShellWord[] }
  /** Text that a shell reads. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unknown'; readonly text: string };

export interface CommandHazards {
  readonly hazards: readonly Hazard[];
  readonly runs: readonly Run[];
}

/** A command that is dangerous because of word `word`, and what it runs. */
export function runs(why: string, word: number, found: readonly Run[]): CommandHazards {
  return { hazards: [{ why, word }], runs: found };
}

/** Words that a shell reads as one line. */
export function scriptOf(words: readonly ShellWord[]): Run {
  const text = textOf(words);
  if (words.some((word) => word.kind === 'unknown')) return { kind: 'unknown', text };
  return { kind: 'text', text: words.map((word) => word.value).join(' ') };
}

/** What an alias of git or the shell stands for. */
export function aliasScript(word: ShellWord): Run {
  const value = word.value.slice(word.value.indexOf('=') + 1);
  return word.kind === 'literal' ? { kind: 'text', text: value } : { kind: 'unknown', text: word.text };
}

export function textOf(words: readonly ShellWord[]): string {
  return words.map((word) => word.text).join(' ');
}
