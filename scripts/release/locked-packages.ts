import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      integrity: z.string().optional(),
      license: z.string().optional(),
    }),
  ),
});

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and base64. */
  readonly integrity: string;
  readonly license: string;
}

/** What package-lock.json says of a folder below node_modules. Throws when it says too little. */
export function lockedPackages(root: string): (folder: string) => LockedPackage {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  return (folder) => {
    const { version, integrity, license } = packages[folder] ?? {};
    if (version === undefined || integrity === undefined || license === undefined)
      throw new Error(`package-lock.json has no version, integrity or licence of ${folder}.`);
    return {
      name: folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      integrity,
      license,
    };
  };
}
