import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { platformBranches } from './platforms.js';

const src = fileURLToPath(new URL('../../src/', import.meta.url));
const tests = fileURLToPath(new URL('../', import.meta.url));
const branch = /platform\s*(?:===|!==)|=== 'darwin'/;

test('each branch for macOS is in the table, and so has a test that runs on Linux', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const branching = files.filter((path) => branch.test(readFileSync(join(src, path), 'utf8')));
  expect(platformBranches.map(({ file }) => file).toSorted()).toEqual(branching.toSorted());
});

test.each(platformBranches)('$test runs the branch of $file', ({ test: file, names }) => {
  expect(readFileSync(join(tests, file), 'utf8')).toContain(names);
});
