import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder without links in its path, removed when the test is over. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'bridge-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
