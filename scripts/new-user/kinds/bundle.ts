import { getMcpConfigForManifest, v0_3 } from '@anthropic-ai/mcpb';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { artefactNames } from '../../release/artefacts.js';
import { mcpbProgram } from '../../release/make-bundle.js';
import { run } from '../../release/run.js';
import type { Kind } from '../kind.js';
import { removeRest } from '../remove-rest.js';

const FOLDER = '.config/Claude/Claude Extensions/claude-code-bridge';

/** The bundle in Claude Desktop: opened with a click, its folders chosen in a window, removed with a click. */
export const bundle: Kind = {
  name: 'bundle',
  install: async ({ project, release, place }) => {
    const unpacked = join(place.homeDir, FOLDER);
    const file = join(release, artefactNames(project).bundle);
    await run(mcpbProgram(project.root), ['unpack', file, unpacked], place.homeDir);
    const manifest: unknown = JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'));
    const config = await getMcpConfigForManifest({
      manifest: v0_3.McpbManifestSchema.parse(manifest),
      extensionPath: join(place.home, FOLDER),
      systemDirs: {},
      userConfig: { allowed_roots: [join(place.home, 'Projects')] },
      pathSeparator: '/',
    });
    if (config === undefined) throw new Error('The settings of the bundle make no command.');
    return place.server(config.command, config.args ?? []);
  },
  uninstall: async ({ place }) => {
    await removeRest(place, `node '${join(place.home, FOLDER)}/dist/main.js'`);
    await rm(join(place.homeDir, '.config', 'Claude'), { recursive: true });
  },
};
