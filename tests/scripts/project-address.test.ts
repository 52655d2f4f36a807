import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { readProject } from '../../scripts/release/project.js';

/** Where the project is hosted. */
const PROJECT_ADDRESS = 'https://github.com/claude-code-bridge/claude-code-bridge';
/** Its name in the MCP registry. */
const REGISTRY_NAME = 'io.github.claude-code-bridge/claude-code-bridge';

const root = resolve(import.meta.dirname, '..', '..');
const manifestSchema = z.object({
  version: z.string(),
  homepage: z.string(),
  repository: z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]),
  bugs: z.object({ url: z.string() }).optional(),
});

it.each(['package.json', 'vscode/package.json', 'plugins/code-bridge/.claude-plugin/plugin.json'])(
  '%s names the address of the project, and its version',
  (file) => {
    const { version, homepage, repository, bugs } = manifestSchema.parse(
      JSON.parse(readFileSync(resolve(root, file), 'utf8')),
    );
    expect(version).toBe(readProject(root).version);
    expect(homepage.split('#')[0]).toBe(PROJECT_ADDRESS);
    expect(repository.replace(/^git\+/, '').replace(/\.git$/, '')).toBe(PROJECT_ADDRESS);
    if (bugs !== undefined) expect(bugs.url).toBe(`${PROJECT_ADDRESS}/issues`);
  },
);

it('package.json names the project as the MCP registry does', () => {
  expect(readProject(root)).toMatchObject({ mcpName: REGISTRY_NAME, address: PROJECT_ADDRESS });
});
