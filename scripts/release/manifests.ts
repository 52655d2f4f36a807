// Pure: package.json and the tools → what other registries want to know of the project.
import { configSchema } from '../../src/config/schema.js';
import { enabledTools } from '../../src/tools/registry.js';
import { artefactNames, type Project } from './project.js';

const REGISTRY_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const TITLE = 'Claude Code Bridge';
/** The registry takes at most 100 characters. */
const DESCRIPTION =
  'Starts Claude Code in your projects, passes its questions on, returns a result you can check.';

/** The manifest of the bundle for Claude Desktop. */
export function bundleManifest(project: Project) {
  const { name, version, description, license, author, homepage, bugs, keywords, address, engines } = project;
  return {
    manifest_version: '0.3',
    name,
    display_name: TITLE,
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
      .filter(({ caller }) => caller === undefined)
      .map((tool) => ({ name: tool.name, description: tool.listing.title })),
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

/** The entry of the MCP registry; the hash of the bundle is in hexadecimal. */
export function serverJson(project: Project, bundleSha256: string) {
  const { name, mcpName, version, address, homepage } = project;
  const transport = { type: 'stdio' };
  const allowedRoots = {
    name: 'MCP_ALLOWED_ROOTS',
    description: 'Folders in which Claude Code may be started, separated by commas.',
    format: 'filepath',
    isRequired: true,
    placeholder: '/home/me/Projects',
  };
  return {
    $schema: REGISTRY_SCHEMA,
    name: mcpName,
    title: TITLE,
    description: DESCRIPTION,
    version,
    websiteUrl: homepage,
    repository: { url: address, source: 'github' },
    packages: [
      {
        registryType: 'npm',
        registryBaseUrl: 'https://registry.npmjs.org',
        identifier: name,
        version,
        runtimeHint: 'npx',
        transport,
        environmentVariables: [allowedRoots],
      },
      {
        registryType: 'mcpb',
        identifier: `${address}/releases/download/v${version}/${artefactNames(project).bundle}`,
        version,
        fileSha256: bundleSha256,
        transport,
      },
    ],
  };
}
