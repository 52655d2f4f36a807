import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/base/errors.js';
import { checkBundle } from './checks/bundle.js';
import type { Check } from './checks/check.js';
import { checkContents } from './checks/contents.js';
import { checkExtension } from './checks/extension.js';
import { checkLicences } from './checks/licences.js';
import { checkNpm } from './checks/npm.js';
import { checkRegistry } from './checks/registry.js';
import { checkSums } from './checks/sums.js';
import { checkVersions } from './checks/versions.js';
import type { Project } from './project.js';

const checks: Readonly<Record<string, Check>> = {
  versions: checkVersions,
  checksums: checkSums,
  contents: checkContents,
  npm: checkNpm,
  bundle: checkBundle,
  registry: checkRegistry,
  extension: checkExtension,
  licences: checkLicences,
};

/** All faults of the release in `folder`, each a line that begins with its part; none when it can be published. */
export async function releaseFaults(project: Project, folder: string): Promise<string[]> {
  const work = await mkdtemp(join(tmpdir(), 'release-check-'));
  try {
    const faults = await Promise.all(
      Object.entries(checks).map(async ([name, check], index) => {
        const own = join(work, String(index));
        await mkdir(own);
        const found = await check({ project, folder, work: own }).catch((error: unknown) => [
          messageOf(error),
        ]);
        return found.map((fault) => `${name}: ${fault}`);
      }),
    );
    return faults.flat();
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  }
}
