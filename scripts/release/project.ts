import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  keywords: z.array(z.string()),
  license: z.string(),
  author: z.string(),
  homepage: z.string(),
  repository: z.object({ url: z.string() }),
  bugs: z.object({ url: z.string() }),
  mcpName: z.string(),
  engines: z.object({ node: z.string() }),
});
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});
const systems = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/** The only code that is not bundled: the terminal and ripgrep, each with its prebuilt program for each system on which the bridge runs. */
export const nativePackages: readonly string[] = ['@lydell/node-pty', '@vscode/ripgrep'].flatMap((name) =>
  ['', ...systems.map((system) => `-${system}`)].map((end) => `${name}${end}`),
);

/** What every artefact repeats of package.json. */
export interface Project extends z.infer<typeof packageSchema> {
  /** The checkout. */
  readonly root: string;
  /** Of the repository, for browsers. */
  readonly address: string;
}

/** Reads package.json of the checkout. Throws for one that lacks what an artefact needs. */
export function readProject(root: string): Project {
  const read = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  return { ...read, root, address: read.repository.url.replace(/^git\+/, '').replace(/\.git$/, '') };
}

/** Version and integrity (`sha512-` and base64) of a package below node_modules. Throws when package-lock.json does not say them. */
export function lockedPackage(root: string, name: string): { version: string; integrity: string } {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  const { version, integrity } = packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined)
    throw new Error(`package-lock.json has no version or integrity of ${name}.`);
  return { version, integrity };
}

/** The files of a release, by what they are. */
export function artefactNames({ name, version }: Pick<Project, 'name' | 'version'>) {
  return {
    npm: `${name}-${version}.tgz`,
    bundle: `${name}-${version}.mcpb`,
    extension: `claude-terminal-bridge-${version}.vsix`,
    registry: 'server.json',
    sums: 'SHA256SUMS',
  } as const;
}
