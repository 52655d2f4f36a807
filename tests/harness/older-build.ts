import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { VERSION } from '../../src/base/package.js';
import { serverEntry } from './start-bridge.js';

/** The version of the older build. */
export const OLDER_VERSION = '0.0.9';

/** `main.js` of a copy of the built package that says it is older, in a folder that must be removed later. */
export async function olderBuild(folder: string): Promise<string> {
  const dist = dirname(serverEntry);
  const copy = join(folder, 'older', 'dist');
  await cp(dist, copy, { recursive: true });
  await symlink(join(dist, '..', 'node_modules'), join(copy, '..', 'node_modules'));
  let changed = 0;
  for (const name of await readdir(copy)) {
    if (!name.endsWith('.js')) continue;
    const text = await readFile(join(copy, name), 'utf8');
    const older = text.replaceAll(`version:"${VERSION}"`, `version:"${OLDER_VERSION}"`);
    if (older === text) continue;
    await writeFile(join(copy, name), older);
    changed++;
  }
  if (changed === 0) throw new Error('No file of the build names its version');
  return join(copy, 'main.js');
}
