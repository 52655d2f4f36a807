import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { RecordFile } from '../../src/store/record-file.js';

const schema = z.object({ version: z.literal(2), count: z.number() });
let folder: string;
let record: RecordFile<z.infer<typeof schema>>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'record-'));
  record = new RecordFile(join(folder, 'record.json'), schema, 2);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('RecordFile', () => {
  test('reads what was written, and tells a missing record', async () => {
    expect(await record.read()).toEqual({ state: 'missing' });
    await record.write({ version: 2, count: 1 });
    expect(await record.read()).toEqual({ state: 'ok', value: { version: 2, count: 1 } });
  });

  test('a burst of writes ends with the newest value, in order', async () => {
    const writes: Promise<void>[] = [];
    for (let count = 0; count < 50; count++) {
      writes.push(record.write({ version: 2, count }));
      if (count % 10 === 0) await writes[0];
    }
    await Promise.all(writes);
    expect(await record.read()).toEqual({ state: 'ok', value: { version: 2, count: 49 } });
    expect(await readdir(folder)).toEqual(['record.json']);
  });

  test('a write is over only when its value or a later one is on the disk', async () => {
    const seen = [1, 2, 3].map(async (count) => {
      await Promise.resolve();
      await record.write({ version: 2, count });
      const read = await record.read();
      return read.state === 'ok' && read.value.count >= count;
    });
    expect(await Promise.all(seen)).toEqual([true, true, true]);
  });

  test('a failed write is told to its caller, and the next one is tried anew', async () => {
    await rm(folder, { recursive: true });
    const first = record.write({ version: 2, count: 1 });
    await expect(first).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
    await mkdir(folder);
    await record.write({ version: 2, count: 2 });
    expect(await record.read()).toMatchObject({ state: 'ok' });
  });

  test('a record of a newer version is named and left as it is', async () => {
    await writeFile(record.path, '{"version":3,"other":true}');
    expect(await record.read()).toEqual({ state: 'newer', version: 3 });
    expect(await readFile(record.path, 'utf8')).toBe('{"version":3,"other":true}');
  });

  test.each(['{"version":2}', '{"version":2,"cou', '[]', '{"version":1,"count":1}'])(
    '%s is corrupt',
    async (text) => {
      await writeFile(record.path, text);
      expect((await record.read()).state).toBe('corrupt');
    },
  );

  test('a corrupt record is set aside under its name', async () => {
    await writeFile(record.path, 'torn');
    expect(await record.setAside()).toBe(`${record.path}.corrupt`);
    expect(await record.read()).toEqual({ state: 'missing' });
    expect(await readFile(`${record.path}.corrupt`, 'utf8')).toBe('torn');
  });
});
