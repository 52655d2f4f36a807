import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { artefactNames } from '../artefacts.js';
import { run } from '../run.js';
import type { Check } from './check.js';
import { handshake } from './handshake.js';

const SCRIPTS_OF_INSTALLATION = ['preinstall', 'install', 'postinstall', 'prepare'];
const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  mcpName: z.string(),
  scripts: z.record(z.string(), z.string()),
});

/** Whether the npm package is this version, installs without scripts, and serves. */
export const checkNpm: Check = async ({ project, folder, work }) => {
  const tarball = join(folder, artefactNames(project).npm);
  const app = join(work, 'app');
  await mkdir(app);
  await writeFile(join(app, 'package.json'), '{"private":true}');
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--omit=peer'];
  await run('npm', ['install', ...flags, tarball], app);
  const home = join(app, 'node_modules', project.name);
  const read = manifestSchema.parse(JSON.parse(await readFile(join(home, 'package.json'), 'utf8')));
  const roots = join(work, 'roots');
  return [
    ...(['name', 'version', 'mcpName'] as const)
      .filter((key) => read[key] !== project[key])
      .map((key) => `its ${key} is ${read[key]}.`),
    ...SCRIPTS_OF_INSTALLATION.filter((name) => name in read.scripts).map(
      (name) => `it has a script ${name}.`,
    ),
    ...(await handshake({
      project,
      command: join(app, 'node_modules', '.bin', project.name),
      args: [],
      env: { MCP_ALLOWED_ROOTS: roots },
      home: work,
      inside: join(roots, 'a'),
    })),
  ];
};
