import type { Project } from './project.js';

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

/** Where a release's files are downloaded. */
export function downloadAddress(
  { address, version }: Pick<Project, 'address' | 'version'>,
  file: string,
): string {
  return `${address}/releases/download/v${version}/${file}`;
}
