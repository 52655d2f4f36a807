import { artefactNames, downloadAddress } from './artefacts.js';
import type { Project } from './project.js';

export const REGISTRY_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
/** The registry takes at most 100 characters. */
const DESCRIPTION =
  'Starts Claude Code in your projects, passes its questions on, returns a result you can check.';

const allowedRoots = {
  name: 'MCP_ALLOWED_ROOTS',
  description: 'Folders in which Claude Code may be started, separated by commas.',
  format: 'filepath',
  isRequired: true,
  placeholder: '/home/me/Projects',
};

/** The entry of the MCP registry. Pure. */
export function serverJson(project: Project, bundleSha256: string) {
  const { name, mcpName, version, address, homepage } = project;
  const transport = { type: 'stdio' };
  return {
    $schema: REGISTRY_SCHEMA,
    name: mcpName,
    title: 'Claude Code Bridge',
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
        identifier: downloadAddress(project, artefactNames(project).bundle),
        version,
        fileSha256: bundleSha256,
        transport,
      },
    ],
  };
}
