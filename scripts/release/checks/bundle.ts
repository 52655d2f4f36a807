import { getMcpConfigForManifest } from '@anthropic-ai/mcpb';
import { v0_3 } from '@anthropic-ai/mcpb';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { artefactNames } from '../artefacts.js';
import { bundleManifest } from '../bundle-manifest.js';
import { mcpbProgram } from '../make-bundle.js';
import { run } from '../run.js';
import { nativePackages } from '../native-packages.js';
import type { Check } from './check.js';
import { handshake } from './handshake.js';

/** Whether the bundle is valid, holds the native programs for every system, and serves the folders of its settings as Claude Desktop starts it. */
export const checkBundle: Check = async ({ project, folder, work }) => {
  const file = join(folder, artefactNames(project).bundle);
  const unpacked = join(work, 'bundle');
  const mcpb = mcpbProgram(project.root);
  await run(mcpb, ['unpack', file, unpacked], work);
  await run(mcpb, ['validate', join(unpacked, 'manifest.json')], work);
  const text = await readFile(join(unpacked, 'manifest.json'), 'utf8');
  const faults = nativePackages
    .filter((path) => !existsSync(join(unpacked, path, 'package.json')))
    .map((path) => `it lacks ${path}.`);
  if (text !== `${JSON.stringify(bundleManifest(project), null, 2)}\n`)
    faults.push('its manifest is of another version.');
  // Spaces and commas are usual in the names of folders.
  const roots = [join(work, 'first'), join(work, 'second, with spaces')];
  const config = await getMcpConfigForManifest({
    manifest: v0_3.McpbManifestSchema.parse(JSON.parse(text)),
    extensionPath: unpacked,
    systemDirs: {},
    userConfig: { allowed_roots: roots },
    pathSeparator: '/',
  });
  if (config === undefined) return [...faults, 'its settings make no command.'];
  for (const root of roots) {
    const { command, args = [] } = config;
    faults.push(...(await handshake({ project, command, args, home: work, inside: join(root, 'app') })));
  }
  return faults;
};
