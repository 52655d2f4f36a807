// Pure: converts words of the parser to words as rules see them.
import type { Word, WordPart } from 'unbash';
import type { ShellWord } from './shell-part.js';
import { ANY_TEXT, type Token } from '../wildcard.js';

/** Converts one word; the result of an expansion is unknown. */
export function readWord(word: Word): ShellWord {
  const seen: Reading = { tokens: [], isGlob: false, isUnknown: false };
  if (word.parts === undefined) seen.tokens.push(...word.value);
  for (const part of word.parts ?? []) readPart(part, seen);
  const value = word.parts === undefined ? word.value : globText(word.parts);
  return {
    text: word.text,
    tokens: seen.tokens,
    kind: seen.isUnknown ? 'unknown' : seen.isGlob ? 'glob' : 'literal',
    value,
    hasTilde: word.text.startsWith('~'),
  };
}

/** A known word, such as a piece of another one. */
export function literalWord(value: string): ShellWord {
  return { text: value, tokens: [...value], kind: 'literal', value, hasTilde: false };
}

/** A word that may become any text. */
export function unknownWord(text: string): ShellWord {
  return { text, tokens: [ANY_TEXT], kind: 'unknown', value: text, hasTilde: false };
}

interface Reading {
  tokens: Token[];
  isGlob: boolean;
  isUnknown: boolean;
}

function readPart(part: WordPart, seen: Reading): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      seen.tokens.push(...part.value);
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      // A locale string may be replaced by its translation.
      if (part.type === 'LocaleString') open(seen);
      for (const child of part.parts) readPart(child, seen);
      return;
    case 'Glob':
      seen.isGlob = true;
      // It becomes the names that match, or stays as written if none does.
      seen.tokens.push(ANY_TEXT);
      return;
    default:
      open(seen);
  }
}

function open(seen: Reading): void {
  seen.isUnknown = true;
  seen.tokens.push(ANY_TEXT);
}

function globText(parts: readonly WordPart[]): string {
  return parts
    .map((part) => {
      switch (part.type) {
        case 'DoubleQuoted':
        case 'LocaleString':
          return globText(part.parts);
        case 'Literal':
        case 'SingleQuoted':
        case 'AnsiCQuoted':
          return part.value;
        default:
          return part.text;
      }
    })
    .join('');
}
