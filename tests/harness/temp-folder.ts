import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder without links in its path, removed when the test is over. Its name is short: sockets may lie in it. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 't-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
