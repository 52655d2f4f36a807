import { readFile, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import type { Kind } from '../kind.js';
import { removeRest } from '../remove-rest.js';

const PLUGIN = 'code-bridge@claude-code-bridge-plugins';
const serversSchema = z.object({
  mcpServers: z.object({ bridge: z.object({ command: z.string(), args: z.array(z.string()) }) }),
});

/** The plugin of Claude Code, from the repository as a marketplace. */
export const plugin: Kind = {
  name: 'plugin',
  install: async ({ project, place }) => {
    await place.type('npm install --global claude-code-bridge');
    await place.type(`claude plugin marketplace add ${project.root}`);
    await place.type(`claude plugin install ${PLUGIN}`);
    await place.type('claude-code-bridge init --roots ~/Projects');
    const cache = join(place.homeDir, '.claude', 'plugins', 'cache');
    const file = (await readdir(cache, { recursive: true })).find((path) => path.endsWith('.mcp.json'));
    if (file === undefined) throw new Error('The plugin was not installed.');
    const { command, args } = serversSchema.parse(JSON.parse(await readFile(join(cache, file), 'utf8')))
      .mcpServers.bridge;
    const folder = join(place.home, relative(place.homeDir, dirname(join(cache, file))));
    const expanded = args.map((arg) => arg.replace('${CLAUDE_PLUGIN_ROOT}', folder));
    // Claude Code starts it in the project of the session.
    return place.server('sh', ['-c', 'cd ~/Projects && exec "$0" "$@"', command, ...expanded]);
  },
  uninstall: async ({ place }) => {
    await place.type(`claude plugin uninstall ${PLUGIN}`);
    await place.type('claude plugin marketplace remove claude-code-bridge-plugins');
    await removeRest(place, 'claude-code-bridge');
    await place.type('npm uninstall --global claude-code-bridge');
  },
};
