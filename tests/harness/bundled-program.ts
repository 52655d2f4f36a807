import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { createSecret } from '../../src/base/ids.js';

/** Below the packages that a program finds at run time. */
const folder = fileURLToPath(new URL('../../.cache/programs', import.meta.url));

/** A build takes half a second; beside other work some more. */
const BUILD_LIMIT_MS = 60_000;

/**
 * Makes one file of a program of the sources before the tests of this file, and removes it after them; gives its path.
 * A loader would compile the same sources at each start, which takes ten times as long as starting what is made here.
 */
export function bundledProgram(entry: URL): () => string {
  const source = fileURLToPath(entry);
  const path = join(folder, `${basename(source, '.ts')}-${createSecret().slice(0, 8)}.mjs`);
  beforeAll(async () => {
    await build({
      entryPoints: [source],
      outfile: path,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'error',
      packages: 'external',
    });
  }, BUILD_LIMIT_MS);
  afterAll(() => rm(path, { force: true }));
  return () => path;
}
