import { expect, it } from 'vitest';
import { QueryFilter } from '../../src/screen/query-filter.js';

const filtered = (text: string): string => new QueryFilter().filter(Buffer.from(text)).toString();

it.each([
  ['device attributes', '\x1b[c'],
  ['secondary device attributes', '\x1b[>0c'],
  ['the cursor’s place', '\x1b[6n'],
  ['the name of the terminal', '\x1b[>0q'],
  ['whether a mode is set', '\x1b[?2026$p'],
  ['a colour', '\x1b]11;?\x07'],
  ['a colour, ended by ST', '\x1b]4;1;?\x1b\\'],
  ['a setting', '\x1bP$qm\x1b\\'],
  ['a capability', '\x1bP+q544e\x1b\\'],
  ['the keyboard protocol', '\x1b[?u'],
  ['another keyboard protocol', '\x1b[>1u'],
  ['other encodings of keys', '\x1b[>4;2m'],
  ['the size in pixels', '\x1b[14t'],
])('a question is taken out: %s', (_, sequence) => {
  expect(filtered(`before ${sequence}after`)).toBe('before after');
  const filter = new QueryFilter();
  const bytes = Buffer.from(`before ${sequence}after`);
  const pieces = [...bytes].map((byte) => filter.filter(Buffer.from([byte])).toString('latin1'));
  expect(pieces.join('')).toBe('before after');
});

it.each([
  ['colours', '\x1b[31mred\x1b[0m'],
  ['cursor moves', '\x1b[5;9H\x1b[u\x1b[s'],
  ['a title', '\x1b]0;What now?\x07'],
  ['a link', '\x1b]8;;http://localhost/?a=b\x1b\\link\x1b]8;;\x1b\\'],
  ['the cursor’s look', '\x1b[2 q'],
  ['a soft reset', '\x1b[!p'],
  ['modes', '\x1b[?1049h\x1b[?25l'],
  ['a pushed title', '\x1b[22;2t'],
])('the rest stays as it is: %s', (_, text) => {
  expect(filtered(text)).toBe(text);
});
