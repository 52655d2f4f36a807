import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import {
  delegatingModel,
  expectDelegated,
  runClient,
  startClientBridge,
  type ClientBridge,
} from './client-bridge.js';
import { installClient, type ClientKey, type InstalledClient } from './versions.js';
import { chatCompletions } from './models/chat-completions.js';
import { startModelServer } from './models/model-server.js';
import { responses } from './models/responses.js';
import { record, type Feature } from './seen.js';

const reportSchema = z.object({
  resources: z.array(z.string()),
  config: z.string(),
  prompts: z.array(z.string()).optional(),
  filled: z.string().optional(),
  instructions: z.string().optional(),
  said: z.string(),
});

interface Framework {
  readonly key: ClientKey;
  /** In `drivers/`. */
  readonly driver: string;
  readonly hasPrompts: boolean;
  readonly lacks: readonly string[];
}

const frameworks: readonly Framework[] = [
  {
    key: 'langchain',
    driver: 'langchain.mjs',
    hasPrompts: false,
    lacks: [
      'It has no prompts.',
      'It passes both forms of an answer to its model, so the bridge gives it text alone.',
    ],
  },
  { key: 'aiSdk', driver: 'ai-sdk.mjs', hasPrompts: true, lacks: [] },
  { key: 'openaiAgents', driver: 'openai-agents.mjs', hasPrompts: false, lacks: ['It has no prompts.'] },
];

/** Runs a driver beside the packages that it imports; what it printed. */
async function drive(bridge: ClientBridge, installed: InstalledClient, driver: string, modelUrl: string) {
  const folder = join(bridge.workplace.root, 'driver');
  await mkdir(folder);
  await symlink(join(installed.folder, 'node_modules'), join(folder, 'node_modules'));
  await copyFile(join(import.meta.dirname, 'drivers', driver), join(folder, driver));
  const job = { server: bridge.server, modelUrl, prompt: 'Delegate: fix the bug.' };
  return reportSchema.parse(
    JSON.parse(await runClient(bridge, [installed.node, join(folder, driver)], { JOB: JSON.stringify(job) })),
  );
}

describe.each(frameworks)('an agent framework ($key)', ({ key, driver, hasPrompts, lacks }) => {
  let installed: InstalledClient;
  beforeAll(async () => {
    installed = await installClient(key);
  });

  it('offers all tools to its model, delegates, waits long and reads resources', async () => {
    const bridge = await startClientBridge();
    const model = delegatingModel(bridge);
    const server = await startModelServer([chatCompletions, responses], (request) =>
      model.caller.next(request),
    );
    onTestFinished(() => server.dispose());
    const report = await drive(bridge, installed, driver, server.url);
    await expectDelegated(bridge, model, report.said);
    expect(model.caller.bridgeTools(bridge.tools)).toEqual(bridge.tools);
    expect(report.resources).toContain('config://current');
    expect(report.config).toContain(bridge.workplace.projectsDir);
    if (hasPrompts) {
      expect(report.prompts).toContain('delegate');
      expect(report.filled).toContain('Fix the bug');
      expect(report.instructions).toContain('wait_for_task');
    }
    const works: Partial<Record<Feature, string>> = {
      tools: `${bridge.tools.length}`,
      delegation: 'yes',
      resources: 'listed, read',
      ...(hasPrompts && { prompts: 'listed, filled' }),
    };
    record(key, installed, works, lacks);
  });
});
