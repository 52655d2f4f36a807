import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isOnLocalDisk } from '../../src/base/local-disk.js';
import { scratchFolder } from '../processes/scratch-folder.js';

describe('whether a folder is on a local disk', () => {
  test('is told only where it is known', async () => {
    // A file system that is no disk at all.
    expect(await isOnLocalDisk('/proc')).toBe(false);
    expect(await isOnLocalDisk(join(await scratchFolder(), 'missing'))).toBe(false);
  });

  test.runIf(process.platform === 'linux')('is told of the memory that is mounted as a disk', async () => {
    expect(await isOnLocalDisk('/dev/shm')).toBe(true);
  });
});
