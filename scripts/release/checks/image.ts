import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { artefactNames } from '../artefacts.js';
import { run } from '../run.js';
import type { Check } from './check.js';
import { handshake } from './handshake.js';

/** Whether the build context of the image is complete: its labels, its user, and an app that serves. */
export const checkImage: Check = async ({ project, folder, work }) => {
  const context = join(work, 'image');
  await mkdir(context);
  await run('tar', ['-xzf', join(folder, artefactNames(project).image), '-C', context], context);
  const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
  const lines = [
    `io.modelcontextprotocol.server.name="${project.mcpName}"`,
    `org.opencontainers.image.version="${project.version}"`,
    'USER 1000\n',
  ];
  const roots = join(work, 'projects');
  return [
    ...lines
      .filter((line) => !dockerfile.includes(line))
      .map((line) => `its Dockerfile lacks ${line.trim()}.`),
    ...(await handshake({
      project,
      command: 'node',
      args: [join(context, 'app', 'dist', 'main.js')],
      env: { MCP_ALLOWED_ROOTS: roots },
      home: work,
      inside: join(roots, 'a'),
    })),
  ];
};
