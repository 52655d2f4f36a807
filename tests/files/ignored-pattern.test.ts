import fc from 'fast-check';
import ignore from 'ignore';
import { expect, it } from 'vitest';
import { ignorePattern } from '../../src/files/ignored-pattern.js';

/** Names and patterns over a few letters, so that they often meet. */
const name = fc
  .string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 4 })
  .filter((text) => !/^\.+$/.test(text));
const segment = fc
  .string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 4 })
  .filter((text) => !text.includes('**'));
const pattern = fc.oneof(
  segment,
  fc.tuple(segment, segment).map((parts) => `/${parts.join('/')}`),
  fc.tuple(segment, segment).map((parts) => `${parts[0]}/**/${parts[1]}`),
);

it('a pattern matches a file as the package `ignore` has it', () => {
  fc.assert(
    fc.property(pattern, fc.array(name, { minLength: 1, maxLength: 3 }), (line, names) => {
      const path = names.join('/');
      // A file below an ignored folder is the walk's business: here only whole paths are compared.
      fc.pre(
        !names.slice(0, -1).some((_, end) =>
          ignore()
            .add(line)
            .ignores(`${names.slice(0, end + 1).join('/')}/`),
        ),
      );
      expect(ignorePattern(line)?.matches(path, names.at(-1) ?? '')).toBe(ignore().add(line).ignores(path));
    }),
    { numRuns: 2_000 },
  );
});

it('a pattern that takes others for ever ends', () => {
  const hostile = ignorePattern('*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b');
  expect(hostile?.matches('a'.repeat(200), 'a'.repeat(200))).toBe(false);
});

it.each(['**/ab', '***/ab', '****/ab'])(
  'a segment of more than two stars is one of two, as to git: %s',
  (line) => {
    expect(ignorePattern(line)?.matches('ab', 'ab')).toBe(true);
    expect(ignorePattern(line)?.matches('x/y/ab', 'ab')).toBe(true);
    expect(ignorePattern(line)?.matches('x/aab', 'aab')).toBe(false);
  },
);
