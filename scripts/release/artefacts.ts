import type { Project } from './project.js';

/** The files of a release, by what they are. */
export function artefactNames({ name, version }: Pick<Project, 'name' | 'version'>) {
  return {
    npm: `${name}-${version}.tgz`,
    bundle: `${name}-${version}.mcpb`,
    image: `${name}-${version}-image.tar.gz`,
    extension: `claude-terminal-bridge-${version}.vsix`,
    sbom: `${name}-${version}.cdx.json`,
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

/** The image in the registry of images. */
export function imageName({ address, version }: Pick<Project, 'address' | 'version'>): string {
  return `ghcr.io/${new URL(address).pathname.slice(1).toLowerCase()}:${version}`;
}
