// What a caller is told to do next, without tools that are not offered.
import { listings } from './listings.js';

/** Other names, such as `ask` or `ps`, are also ordinary words. */
const DISTINCT_NAME = /_|[a-z][A-Z]/;
const SENTENCE_END = /(?<=[.!?]) (?=[A-Z`])/;
/** The first sentence of an error says what is so. */
const ERROR_CODE = /^[A-Z_]+: /;
/** Names of files, branches and folders, which may be those of tools. */
const VALUES = /'[^']*'|"[^"]*"|\S*\/\S*/g;

/** Returns a filter for hints and errors: it leaves out the sentences that name a tool that is not among `offered`. */
export function offeredGuidance(offered: readonly { readonly name: string }[]): (text: string) => string {
  const names = new Set(offered.map(({ name }) => name));
  const missing = listings
    .map(({ listing }) => listing.name)
    .filter((name) => !names.has(name) && DISTINCT_NAME.test(name));
  if (missing.length === 0) return (text) => text;
  const named = new RegExp(`\\b(?:${missing.join('|')})\\b`);
  return (text) =>
    text
      .split(SENTENCE_END)
      .filter((sentence) => ERROR_CODE.test(sentence) || !named.test(sentence.replace(VALUES, '')))
      .join(' ');
}
