import { configSchema } from '../../src/config/schema.js';
import { isForModels } from '../../src/mcp/tool.js';
import { enabledTools } from '../../src/tools/registry.js';
import type { Project } from './project.js';

/** The manifest of the bundle for Claude Desktop. Pure. */
export function bundleManifest(project: Project) {
  const { name, version, description, license, author, homepage, bugs, keywords, address, engines } = project;
  return {
    manifest_version: '0.3',
    name,
    display_name: 'Claude Code Bridge',
    version,
    description,
    author: { name: author, url: address },
    repository: { type: 'git', url: address },
    homepage,
    documentation: `${address}/blob/v${version}/docs/guide.md`,
    support: bugs.url,
    icon: 'icon.png',
    license,
    keywords,
    server: {
      type: 'node',
      entry_point: 'dist/main.js',
      mcp_config: {
        command: 'node',
        // Claude Desktop expands a list to arguments, and nowhere else.
        args: ['${__dirname}/dist/main.js', 'serve', '${user_config.allowed_roots}'],
      },
    },
    tools: enabledTools(configSchema.parse({}).toolsets)
      .filter(isForModels)
      .map((tool) => ({ name: tool.name, description: tool.listing().title })),
    compatibility: { platforms: ['darwin', 'linux'], runtimes: { node: engines.node } },
    user_config: {
      allowed_roots: {
        type: 'directory',
        title: 'Project folders',
        description: 'Claude Code may be started in these folders and in all folders below them.',
        multiple: true,
        required: true,
      },
    },
  };
}
