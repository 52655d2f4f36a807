import { createHash } from 'node:crypto';
import { bundledPackages, type Build } from './bundled-packages.js';
import { lockedPackages, type LockedPackage } from './locked-packages.js';
import type { Project } from './project.js';
import { terminalPackages } from './terminal-packages.js';

/** The name of a package in software bills of materials. */
function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/**
 * What is in the release, in CycloneDX 1.6: the packages of which code is in a build, and those that are installed beside it. The same
 * sources make the same text. Needs `npm run build` before.
 */
export function sbom(project: Project): string {
  const { root, name, version, license, address } = project;
  const locked = lockedPackages(root);
  const builds: readonly Build[] = ['dist', 'vscode'];
  const where = new Map<string, string[]>(terminalPackages.map((folder) => [folder, ['installed']]));
  for (const build of builds) {
    for (const folder of bundledPackages(root, build))
      where.set(folder, [...(where.get(folder) ?? []), build]);
  }
  const components = [...where].map(([folder, places]) => component(locked(folder), places));
  const own = purl(name, version);
  const body = {
    metadata: {
      component: {
        type: 'application',
        'bom-ref': own,
        name,
        version,
        licenses: [{ license: { id: license } }],
        purl: own,
        externalReferences: [{ type: 'vcs', url: address }],
      },
    },
    components: components.toSorted((a, b) => a['bom-ref'].localeCompare(b['bom-ref'], 'en')),
    dependencies: [{ ref: own, dependsOn: [...new Set(components.map((one) => one['bom-ref']))].toSorted() }],
  };
  const head = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}`,
    version: 1,
  };
  return `${JSON.stringify({ $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json', ...head, ...body }, null, 2)}\n`;
}

function component({ name, version, integrity, license }: LockedPackage, places: readonly string[]) {
  const [algorithm = '', hash = ''] = integrity.split('-', 2);
  return {
    type: 'library',
    'bom-ref': purl(name, version),
    name,
    version,
    scope: 'required',
    hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
    licenses: [{ license: { id: license } }],
    purl: purl(name, version),
    properties: places.map((value) => ({ name: 'claude-code-bridge:part', value })),
  };
}

/** A UUID (version 8) that a text always has. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
