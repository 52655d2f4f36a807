import { Client, type ClientCapabilities } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { silentLogger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/system-clock.js';
import { configSchema } from '../../src/config/schema.js';
import { serveConnection, type ServerParts } from '../../src/mcp/server.js';
import { allPrompts } from '../../src/prompts/registry.js';
import type { PromptServices } from '../../src/prompts/define-prompt.js';
import { allResources } from '../../src/resources/registry.js';
import type { ResourceServices } from '../../src/resources/define-resource.js';
import { instructionsFor } from '../../src/tools/instructions.js';
import { enabledTools } from '../../src/tools/registry.js';
import type { ToolServices } from '../../src/tools/services.js';
import { FakeTaskService, noReceipts, taskRecord } from '../tools/fake-task-service.js';
import { unusedServices } from '../tools/unused-services.js';

export const eras = ['legacy', 'modern'] as const;
export type Era = (typeof eras)[number];

export const MODERN_REVISION = '2026-07-28';

type Parts = ServerParts<ToolServices & ResourceServices & PromptServices>;

export function serverParts(tasks: FakeTaskService, changes: Partial<Parts> = {}): Parts {
  const config = configSchema.parse({ allowed_roots: ['/home/ann'] });
  return {
    identity: { name: 'claude-code-bridge', title: 'Claude Code Bridge', version: '0.0.0' },
    instructions: instructionsFor('all'),
    tools: enabledTools('all'),
    resources: allResources,
    prompts: allPrompts,
    services: {
      ...unusedServices,
      tasks: async () => tasks,
      offers: () => true,
      receipts: async () => noReceipts,
      appPage: async (file) => `the page ${file}`,
      config,
    },
    clock: systemClock,
    logger: silentLogger,
    ...changes,
  };
}

export interface Serving {
  readonly client: Client;
  readonly tasks: FakeTaskService;
  close(): Promise<void>;
}

/** A connected client of one era, which `prepare` teaches what it answers, and the server it speaks to, in this process. */
export async function startServing(
  era: Era,
  tasks = new FakeTaskService(taskRecord()),
  changes: Partial<Parts> = {},
  clientName = 'test',
  capabilities: ClientCapabilities = {},
  prepare: (client: Client) => void = () => undefined,
): Promise<Serving> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const connection = serveConnection(serverParts(tasks, changes), far);
  const client = eraClient(era, clientName, capabilities);
  prepare(client);
  await client.connect(near);
  return {
    client,
    tasks,
    close: async () => {
      await client.close();
      await connection.close();
    },
  };
}

export function eraClient(era: Era, name = 'test', capabilities: ClientCapabilities = {}): Client {
  const mode = era === 'legacy' ? 'legacy' : { pin: MODERN_REVISION };
  return new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode }, capabilities });
}
