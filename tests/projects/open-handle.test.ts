import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DescriptorHandle } from '../../src/projects/open-handle.js';

/** More than is read here and now. */
const SIZE = 1_200_000;
const PIECE = 100_000;

describe('a descriptor', () => {
  let folder: string;
  let path: string;
  const content = Buffer.from(Array.from({ length: SIZE }, (_, index) => index % 251));
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'open-handle-'));
    path = join(folder, 'file');
    writeFileSync(path, content);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each([true, false])('reads at any offset, however much was read before (local: %s)', async (isLocal) => {
    const handle = new DescriptorHandle(openSync(path, constants.O_RDONLY), isLocal);
    const buffer = Buffer.alloc(SIZE);
    for (let at = 0; at < SIZE; at += PIECE)
      expect(await handle.read(buffer, at, PIECE, at)).toMatchObject({ bytesRead: PIECE });
    expect(buffer.equals(content)).toBe(true);
    expect(await handle.read(buffer, 0, PIECE, SIZE)).toMatchObject({ bytesRead: 0 });
    await handle.close();
  });

  it.each([true, false])(
    'is closed only once, even if its number is in use again (local: %s)',
    async (isLocal) => {
      const handle = await DescriptorHandle.open(path, constants.O_RDONLY);
      if (isLocal) handle.markLocal();
      await handle.close();
      const other = openSync(path, constants.O_RDONLY);
      expect(other).toBe(handle.fd);
      await handle.close();
      expect(fstatSync(other).size).toBe(SIZE);
      closeSync(other);
    },
  );

  it('that cannot be opened is reported with the system’s error', async () => {
    await expect(DescriptorHandle.open(join(folder, 'none'), constants.O_RDONLY)).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });
});
