import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The version that `npm run fetch-claude -- newest` fetched last. Rejects when there is none. */
export async function newestClaude(cacheDir: string): Promise<string> {
  const path = join(cacheDir, 'newest');
  const version = await readFile(path, 'utf8').catch(() => undefined);
  if (version === undefined)
    throw new Error('The newest Claude Code has not been fetched: npm run fetch-claude -- newest');
  return version.trim();
}
