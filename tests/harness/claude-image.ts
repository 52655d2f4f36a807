import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { pack, type Pack } from 'tar-stream';
import { inject } from 'vitest';
import type { TestEngine } from './docker-engine.js';

const REPOSITORY = 'claude-code-bridge-test/claude';
const PROGRAM_MODE = 0o755;

export function newestClaude(): { readonly version: string; readonly binary: string } {
  const newest = inject('claudeVersions').at(-1);
  if (newest?.binary === undefined) throw new Error('the newest version of Claude Code could not be fetched');
  return { version: newest.version, binary: newest.binary };
}

/**
 * The image of one version of the real CLI: the node image with the program that the tests use, and the libraries that
 * it needs. Made once for an engine.
 */
export async function claudeImage(
  { nodeImage }: TestEngine,
  { version, binary }: { readonly version: string; readonly binary: string },
): Promise<string> {
  const docker = new Docker();
  const name = `${REPOSITORY}:${version}`;
  const images = await docker.listImages({ filters: { reference: [name] } });
  if (images.length > 0) return name;
  const container = await docker.createContainer({ Image: nodeImage, Cmd: ['/bin/sh'] });
  try {
    const archive = pack();
    const sent = container.putArchive(Readable.from(archive), { path: '/' });
    await Promise.all([sent, fill(archive, binary)]);
    await container.commit({ repo: REPOSITORY, tag: version });
  } finally {
    await container.remove({ force: true });
  }
  return name;
}

async function fill(archive: Pack, binary: string): Promise<void> {
  const { stdout } = await promisify(execFile)('ldd', [binary]);
  for (const library of stdout.match(/\/\S+/g) ?? []) {
    archive.entry({ name: library.slice(1), mode: PROGRAM_MODE }, await readFile(library));
  }
  const { size } = await stat(binary);
  const entry = archive.entry({ name: 'usr/local/bin/claude', mode: PROGRAM_MODE, size });
  await pipeline(createReadStream(binary), entry);
  archive.finalize();
}
