// Pure.
/** Where the project is hosted: package.json, server.json and the bundles repeat it, which a test compares. */
export const PROJECT_ADDRESS = 'https://github.com/claude-code-bridge/claude-code-bridge';
/** Its name in the MCP registry. */
export const REGISTRY_NAME = 'io.github.claude-code-bridge/claude-code-bridge';
