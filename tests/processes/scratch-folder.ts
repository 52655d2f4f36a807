import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A temp folder of the test's own, removed when it is over. */
export async function scratchFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'pr-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
