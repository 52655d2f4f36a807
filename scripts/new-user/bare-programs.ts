import { cp, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { run } from '../release/run.js';

/** What the smallest Debian has, as far as a person types it or a program starts it. */
const PACKAGES = ['bash', 'coreutils', 'dash', 'findutils', 'grep', 'gzip', 'hostname', 'sed', 'tar'];
const NODE = ['node', 'npm', 'npx'];

/** Copies the programs of a bare Debian with Node into a new folder: no git, no compiler. Needs Debian with Node in /usr/bin. */
export async function copyBarePrograms(folder: string): Promise<void> {
  await mkdir(folder);
  const listed = (await run('dpkg', ['--listfiles', ...PACKAGES], folder)).split('\n');
  const programs = listed
    .filter((path) => /^(?:\/usr)?\/bin\/[^/]+$/.test(path))
    .map((path) => basename(path));
  await Promise.all(
    [...new Set([...programs, 'sh', ...NODE])].map((name) =>
      cp(join('/usr/bin', name), join(folder, name), { verbatimSymlinks: true }),
    ),
  );
}
