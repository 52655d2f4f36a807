import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ceilings } from './ceilings.js';
import { FOLDERS_COUNT, OWN_WAITS } from './layers.js';
import { root } from './source-tree.js';

/** Lines by which a folder may lie below its ceiling before the ceiling follows: a share of it. */
const SLACK = 0.02;

const all = ceilings();
const sum = (rows: typeof all, key: 'lines' | 'ceiling'): number =>
  rows.reduce((total, row) => total + row[key], 0);

test.runIf(FOLDERS_COUNT)('no folder is above its ceiling', () => {
  const above = all.filter(({ lines, ceiling }) => lines > ceiling);
  expect(
    above.map(({ folder, lines, ceiling }) => `${folder} has ${lines} lines, at most ${ceiling}`),
  ).toEqual([]);
});

test('the sum of src, and each area beside it, is not above its ceiling', () => {
  const src = all.filter(({ folder }) => folder.startsWith('src/'));
  const rows = [
    { folder: 'src', lines: sum(src, 'lines'), ceiling: sum(src, 'ceiling') },
    ...all.filter((row) => !src.includes(row)),
  ];
  const above = rows.filter(({ lines, ceiling }) => lines > ceiling);
  expect(
    above.map(({ folder, lines, ceiling }) => `${folder} has ${lines} lines, at most ${ceiling}`),
  ).toEqual([]);
});

test('a ceiling follows its folder down: lower it in tests/architecture/layers.ts', () => {
  const loose = all.filter(({ lines, ceiling }) => ceiling > lines * (1 + SLACK) + 20);
  expect(
    loose.map(({ folder, lines, ceiling }) => `${folder} has ${lines} lines, its ceiling is ${ceiling}`),
  ).toEqual([]);
});

test('no more tests wait in ways of their own than the table says', () => {
  const counts = z.record(z.string(), z.record(z.string(), z.object({ count: z.number() })));
  const text = readFileSync(join(root, 'tests', 'suppressions.json'), 'utf8');
  const files = Object.values(counts.parse(JSON.parse(text)));
  const left = files.flatMap((rules) => Object.values(rules)).reduce((total, { count }) => total + count, 0);
  expect(left).toBeLessThanOrEqual(OWN_WAITS);
});
