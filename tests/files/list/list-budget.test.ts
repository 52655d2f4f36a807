import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fileBytes, nameBytes } from '../../../src/files/list/list-budget.js';
import type { ListedFile } from '../../../src/files/list/listed-file.js';

const anyName = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme-ascii' }),
);

it('the size of a name is that of its JSON', () => {
  fc.assert(
    fc.property(anyName, (name) => {
      expect(nameBytes(name)).toBe(Buffer.byteLength(JSON.stringify(name)));
    }),
  );
});

it('the size of an entry is that of its JSON', () => {
  const entry = fc.record<ListedFile>(
    {
      name: anyName,
      type: fc.constantFrom('file', 'directory', 'symlink', 'other'),
      size: fc.nat(),
      target: fc.string(),
      note: fc.string(),
    },
    { requiredKeys: ['name', 'type'] },
  );
  fc.assert(
    fc.property(entry, (file) => {
      expect(fileBytes(file)).toBe(Buffer.byteLength(JSON.stringify(file)));
    }),
  );
});

it('the size of a regular file is that of its JSON', () => {
  for (const size of [0, 9, 10, 4_096, 2 ** 40])
    for (const name of ['a', 'with space.txt', 'quote".ts', 'back\\slash', 'tab\t', 'ü', '~', '\u007f'])
      expect(fileBytes({ name, type: 'file', size })).toBe(
        Buffer.byteLength(JSON.stringify({ name, type: 'file', size })),
      );
});
