import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';

const young = join(import.meta.dirname, '../../src/base/young-heap.ts');

/** Bytes of the young heap before and after a million objects that live for a while; in a process of its own, since it is for good. */
async function youngBytes(call: string): Promise<number[]> {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { keepYoungHeapSmall } from ${JSON.stringify(young)};
    const bytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
    ${call}
    const before = bytes();
    let some = [];
    for (let made = 0; made < 1_000_000; made++) {
      some.push({ made });
      if (some.length > 200_000) some = [];
    }
    console.log(JSON.stringify([before, bytes()]));`;
  const run = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    script,
  ]);
  return z.array(z.number()).parse(JSON.parse(run.stdout));
}

test('the young heap stays as it is, and would grow otherwise', async () => {
  const [[before = 0, after = 0], [freeBefore = 0, freeAfter = 0]] = [
    await youngBytes('keepYoungHeapSmall();'),
    await youngBytes(''),
  ];
  expect(after).toBe(before);
  expect(freeAfter).toBeGreaterThan(freeBefore);
});
