import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { instructionsFor } from '../../../src/tools/instructions.js';
import type { ClientBridge } from './client-bridge.js';
import { printedEntry, runInitWithEnv } from './init-entry.js';
import { chatCompletions } from './models/chat-completions.js';
import { gemini as generateContent } from './models/gemini.js';
import type { ModelApi, ModelCall } from './models/model-server.js';
import { responses } from './models/responses.js';
import type { ScriptedCaller } from './models/scripted-caller.js';
import type { Feature } from './seen.js';
import type { ClientKey, InstalledClient } from './versions.js';

/** What a client is started for. */
interface Job {
  readonly bridge: ClientBridge;
  readonly installed: InstalledClient;
  /** `http://127.0.0.1:PORT` of its scripted model. */
  readonly modelUrl: string;
}

/** A client without a screen: it takes one prompt, and ends with the last words of its model. */
export interface CommandLineClient {
  readonly key: ClientKey;
  /** Its name for `init`. */
  readonly initId: string;
  readonly apis: readonly ModelApi[];
  /** Writes the settings of the client into its home, and lets `init` add the server; how it is started. */
  readonly start: (job: Job) => Promise<{
    readonly command: readonly [string, ...string[]];
    readonly env?: Readonly<Record<string, string>>;
  }>;
  /** What its model calls before the delegation to list and read resources; left out where it cannot. */
  readonly reads?: readonly [ModelCall, ModelCall];
  /** Checks what else the client showed to its model; what works of it, for the page. */
  readonly check?: (caller: ScriptedCaller) => Readonly<Partial<Record<Feature, string>>>;
  readonly lacks: readonly string[];
}

/** The request in the prompt of a client. */
const REQUEST = 'Fix the bug in average.js.';
const server = 'claude-code-bridge';
const uri = 'config://current';
/** The first sentence of what the server says of itself. */
const [INSTRUCTION = ''] = instructionsFor('all').split('\n');

/** Keys and values as TOML; strings are written as in JSON. */
function toml(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join('\n');
}

async function writeSettings(file: string, settings: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(settings));
}

const codex: CommandLineClient = {
  key: 'codex',
  initId: 'codex',
  apis: [responses],
  start: async ({ bridge, installed, modelUrl }) => {
    const home = join(bridge.workplace.homeDir, '.codex');
    await mkdir(home);
    const file = join(home, 'config.toml');
    const settings = [
      toml({ model: 'scripted', model_provider: 'scripted', check_for_update_on_startup: false }),
      '[model_providers.scripted]',
      toml({ name: 'scripted', base_url: `${modelUrl}/v1`, wire_api: 'responses' }),
    ];
    await writeFile(file, `${settings.join('\n')}\n`);
    await appendFile(file, await printedEntry(bridge, 'codex'));
    await appendFile(file, `\n[mcp_servers.claude-code-bridge.env]\n${toml(bridge.server.env)}\n`);
    const program = join(installed.folder, 'node_modules', installed.name, 'bin/codex.js');
    const approval = 'mcp_servers.claude-code-bridge.default_tools_approval_mode="approve"';
    const options = ['-c', approval, '--skip-git-repo-check', '--sandbox', 'read-only', '--color', 'never'];
    return { command: [installed.node, program, 'exec', ...options, REQUEST], env: { CODEX_HOME: home } };
  },
  reads: [
    { name: 'list_mcp_resources', args: { server } },
    { name: 'read_mcp_resource', args: { server, uri } },
  ],
  lacks: [
    'It has no prompts of servers.',
    'Without a person (`codex exec`) it declines every form at once; the bridge takes that for no answer.',
  ],
};

const gemini: CommandLineClient = {
  key: 'gemini',
  initId: 'gemini-cli',
  apis: [generateContent],
  start: async ({ bridge, installed, modelUrl }) => {
    const file = join(bridge.workplace.homeDir, '.gemini', 'settings.json');
    await writeSettings(file, {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    });
    await runInitWithEnv(bridge, 'gemini-cli', { file, serversKey: 'mcpServers' });
    const { folder, name, node } = installed;
    const program = join(folder, 'node_modules', name, 'bundle/gemini.js');
    const options = ['--approval-mode', 'yolo', '-m', 'gemini-2.5-pro', '-p', `/delegate ${REQUEST}`];
    return {
      command: [node, program, ...options],
      env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_CLI_NO_RELAUNCH: 'true' },
    };
  },
  reads: [
    { name: 'list_mcp_resources', args: {} },
    { name: 'read_mcp_resource', args: { uri } },
  ],
  check: ({ requests }) => {
    expect(requests.find(({ tools }) => tools.length > 0)?.text).toContain('Hand this piece of work');
    return { prompts: 'as slash commands' };
  },
  lacks: [],
};

const opencode: CommandLineClient = {
  key: 'opencode',
  initId: 'opencode',
  apis: [chatCompletions],
  start: async ({ bridge, installed, modelUrl }) => {
    const file = join(bridge.workplace.homeDir, '.config', 'opencode', 'opencode.json');
    const model = { name: 'Scripted', tool_call: true, limit: { context: 1_000_000, output: 8_000 } };
    await writeSettings(file, {
      $schema: 'https://opencode.ai/config.json',
      autoupdate: false,
      share: 'disabled',
      permission: 'allow',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Scripted',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'none' },
          models: { scripted: model },
        },
      },
    });
    await runInitWithEnv(bridge, 'opencode', { file, serversKey: 'mcp', envKey: 'environment' });
    const program = join(installed.folder, 'node_modules', 'opencode-linux-x64', 'bin', 'opencode');
    const prompt = ['--command', `${server}:delegate`, ...REQUEST.split(' ')];
    return {
      command: [program, 'run', '--model', 'scripted/scripted', ...prompt],
      env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    };
  },
  reads: [
    { name: 'list_mcp_resources', args: {} },
    { name: 'read_mcp_resource', args: { server, uri } },
  ],
  check: ({ requests }) => {
    const shown = requests.find(({ tools }) => tools.length > 0)?.text;
    expect(shown).toContain(`<request>\n${REQUEST}\n</request>\n\nThe project is the one that we talk about`);
    return { prompts: 'as slash commands' };
  },
  lacks: [],
};

const copilot: CommandLineClient = {
  key: 'copilot',
  initId: 'copilot-cli',
  apis: [chatCompletions],
  start: async ({ bridge, installed, modelUrl }) => {
    const file = join(bridge.workplace.homeDir, '.copilot', 'mcp-config.json');
    await runInitWithEnv(bridge, 'copilot-cli', { file, serversKey: 'mcpServers' });
    const program = join(installed.folder, 'node_modules', installed.name, 'npm-loader.js');
    const options = ['--silent', '--allow-all-tools', '--trust-folder', '-p', REQUEST];
    return {
      command: [installed.node, program, ...options],
      env: {
        COPILOT_OFFLINE: 'true',
        COPILOT_AUTO_UPDATE: 'false',
        COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
        COPILOT_MODEL: 'scripted',
      },
    };
  },
  check: ({ offered, requests }) => {
    expect([...offered].filter((name) => name.includes('resource'))).toEqual([]);
    expect(requests.filter(({ text }) => text.includes(INSTRUCTION))).toEqual([]);
    return {};
  },
  lacks: [
    'Its model has no tools for resources, and does not see the instructions of servers.',
    'Without a person (`-p`) it declines every form at once; the bridge takes that for no answer.',
    'It passes both forms of an answer to its model, so the bridge gives it text alone.',
  ],
};

export const commandLineClients = [codex, gemini, opencode, copilot];
