import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockedPackages } from './locked-packages.js';
import { packNpm } from './pack-npm.js';
import { run } from './run.js';
import { nativePackages } from './native-packages.js';

/**
 * Fills `folder` with what runs on every supported system without an installation: the npm package, and the native packages below
 * its node_modules. Throws when a package of the registry is not the one that package-lock.json names.
 */
export async function fillAppFolder(root: string, tarball: string, folder: string): Promise<void> {
  await unpack(tarball, folder);
  const locked = lockedPackages(root);
  const downloads = await mkdtemp(join(tmpdir(), 'native-'));
  try {
    await Promise.all(
      nativePackages.map(async (path) => {
        const { name, version, integrity } = locked(path);
        const packed = await packNpm(`${name}@${version}`, downloads);
        if (packed.integrity !== integrity)
          throw new Error(`${name}@${version} of the registry is not the one in package-lock.json.`);
        await unpack(packed.file, join(folder, path));
      }),
    );
  } finally {
    await rm(downloads, { recursive: true });
  }
}

async function unpack(tarball: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', folder], folder);
}
