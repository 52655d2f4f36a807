import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const metaSchema = z.object({
  outputs: z.record(
    z.string(),
    z.object({ inputs: z.record(z.string(), z.object({ bytesInOutput: z.number() })) }),
  ),
});

/** The parts of the build, each with its own list of licences. */
export const builds = {
  dist: 'dist/THIRD_PARTY_LICENSES.txt',
  vscode: 'vscode/dist/THIRD_PARTY_LICENSES.txt',
} as const;
export type Build = keyof typeof builds;

/** The folders of all packages of which code is in a build, as package-lock.json names them, sorted. Needs `npm run build` before. */
export function bundledPackages(root: string, build: Build): string[] {
  const text = readFileSync(join(root, '.cache', 'build', `${build}.meta.json`), 'utf8');
  const folders = new Set<string>();
  for (const { inputs } of Object.values(metaSchema.parse(JSON.parse(text)).outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = /^(?:[a-z-]+:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
      if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
    }
  }
  return [...folders].toSorted();
}
