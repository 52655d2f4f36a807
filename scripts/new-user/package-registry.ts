import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { packNpm } from '../release/pack-npm.js';
import type { Project } from '../release/project.js';
import { nativePackages } from '../release/native-packages.js';

const manifestSchema = z.looseObject({ name: z.string(), version: z.string() });

interface Published {
  readonly manifest: z.infer<typeof manifestSchema>;
  readonly bytes: Buffer;
  readonly integrity: string;
}

export interface PackageRegistry {
  readonly url: string;
  close(): Promise<void>;
}

/** A registry on loopback that holds the release and what it depends on, as it is installed here; nothing else, and no network. */
export async function startPackageRegistry(project: Project): Promise<PackageRegistry> {
  const folders = [project.root, ...nativePackages.map((path) => join(project.root, path))];
  const packages = await Promise.all(folders.filter((folder) => existsSync(folder)).map(published));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    const found = packages.find(({ manifest }) => path === manifest.name || path === fileOf(manifest));
    if (found === undefined) response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    else if (path === fileOf(found.manifest)) response.end(found.bytes);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(document(found, url)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The registry listens at no port.');
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function published(folder: string): Promise<Published> {
  const out = await mkdtemp(join(tmpdir(), 'published-'));
  try {
    const { file, integrity } = await packNpm(folder, out);
    const manifest = manifestSchema.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
    return { manifest, bytes: await readFile(file), integrity };
  } finally {
    await rm(out, { recursive: true });
  }
}

function fileOf({ name, version }: Published['manifest']): string {
  return `files/${name}-${version}.tgz`;
}

/** What npm asks for first. */
function document({ manifest, integrity }: Published, url: string): object {
  const dist = { tarball: `${url}/${fileOf(manifest)}`, integrity };
  const { name, version } = manifest;
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
}
