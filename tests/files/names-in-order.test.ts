import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareNames, type OrderedName } from '../../src/files/list-order.js';
import { namesInOrder } from '../../src/files/names-in-order.js';
import { OrderedEntries } from '../../src/files/ordered-entries.js';

/** More than is compared one by one. */
const MANY = 1_200;
/** One in so many is a folder. */
const FOLDERS = 3;

const word = fc.oneof(
  fc.constantFrom('', 'entry-', 'Entry-', 'ä', 'ÿ', 'Ā', '日本', '😀'),
  fc.string({ unit: 'grapheme-ascii', maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.nat().map(String),
);
const names = fc
  .tuple(word, fc.array(fc.tuple(word, word), { minLength: MANY, maxLength: MANY, size: 'max' }))
  .map(([start, ends]) =>
    ends.map(([one, other], index): OrderedName => {
      return { name: `${start}${one}${other}`, isFolder: index % FOLDERS === 0 };
    }),
  );

test('many names are in the order in which two are compared, whatever is in them', () => {
  fc.assert(
    fc.property(names, (entries) => {
      const byPairs = [...entries].sort(compareNames);
      expect(namesInOrder(entries)).toEqual(byPairs);
      const files = entries.map(({ name }) => ({ name, isFolder: false }));
      expect(namesInOrder(files)).toEqual([...files].sort(compareNames));
    }),
    { numRuns: 15 },
  );
});

test('entries are in that order from any of them on, however many are expected', () => {
  fc.assert(
    fc.property(
      names,
      fc.nat({ max: MANY - 1 }),
      fc.integer({ min: 1, max: MANY }),
      fc.boolean(),
      (entries, from, expected, isOrdered) => {
        const byPairs = [...entries].sort(compareNames);
        const wanted = byPairs[from] ?? { name: '', isFolder: false };
        const ordered = new OrderedEntries(isOrdered ? byPairs : entries, isOrdered);
        ordered.expect(expected);
        expect(ordered.at(0)).toEqual(byPairs[0]);
        const first = ordered.startFrom(wanted);
        expect(first).toBe(byPairs.findIndex((entry) => compareNames(entry, wanted) === 0));
        for (let index = first; index < MANY; index++) expect(ordered.at(index)).toEqual(byPairs[index]);
        expect(ordered.at(MANY)).toBeUndefined();
      },
    ),
    { numRuns: 12 },
  );
});
