import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runClient, startClientBridge, type ClientBridge } from './client-bridge.js';
import { installClient, type InstalledClient } from './versions.js';
import { record } from './seen.js';

const namedSchema = z.array(z.looseObject({ name: z.string(), uri: z.string().optional() })).default([]);
const listSchema = z.looseObject({ tools: namedSchema, resources: namedSchema, prompts: namedSchema });
const answerSchema = z.looseObject({
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  content: z.array(z.looseObject({ text: z.string().optional() })),
});
/** In the modern era the Inspector follows the task to its end. */
const endSchema = z.string().regex(/task_[0-9a-f]{20} is completed/);
const startedSchema = z.looseObject({ task_id: z.string(), cursor: z.string() });
const waitedSchema = z.looseObject({
  cursor: z.string(),
  tasks: z.array(
    z.looseObject({ status: z.string(), decisions: z.array(z.looseObject({ decision_id: z.string() })) }),
  ),
});

/** Each method is a process of its own, and so is the server that it starts. */
class Inspector {
  readonly #bridge: ClientBridge;
  readonly #command: readonly [string, ...string[]];

  constructor(installed: InstalledClient, bridge: ClientBridge, config: string, era: string) {
    const entry = join(installed.folder, 'node_modules', installed.name, 'clients/launcher/build/index.js');
    const options = ['--cli', '--quiet', '--config', config, '--server', 'bridge', '--protocol-era', era];
    this.#bridge = bridge;
    this.#command = [installed.node, entry, ...options];
  }

  /** The names, or addresses, of what a list has. */
  async list(what: 'tools' | 'resources' | 'prompts', ...options: string[]): Promise<string[]> {
    const answer: unknown = JSON.parse(await this.ask('--method', `${what}/list`, ...options));
    return listSchema.parse(answer)[what].map(({ name, uri }) => uri ?? name);
  }

  async ask(...options: string[]): Promise<string> {
    return runClient(this.#bridge, [...this.#command, ...options], { MCP_INSPECTOR_SECRET_STORE: 'memory' });
  }

  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<unknown> {
    const options = ['--tool-name', name, '--tool-args-json', JSON.stringify(args)];
    const answer = answerSchema.parse(JSON.parse(await this.ask('--method', 'tools/call', ...options)));
    return answer.structuredContent ?? answer.content[0]?.text;
  }

  /** Delegates a task with one decision; its receipt. */
  async delegate(project: string): Promise<unknown> {
    const task = { path: project, prompt: 'Fix the bug.', permission_mode: 'cautious' };
    const answer = await this.call('start_task', task);
    const end = endSchema.safeParse(answer).data;
    if (end !== undefined) return this.call('get_task_result', { task_id: end.split(' ')[0] });
    const started = startedSchema.parse(answer);
    const { task_id } = started;
    let { cursor } = started;
    for (;;) {
      const waited = waitedSchema.parse(await this.call('wait_for_task', { task_ids: [task_id], cursor }));
      cursor = waited.cursor;
      const [view] = waited.tasks;
      for (const { decision_id } of view?.decisions ?? [])
        await this.call('respond_to_task', { task_id, decision_id, verdict: 'allow' });
      if (view?.status !== 'running' && view?.status !== 'waiting') break;
    }
    return this.call('get_task_result', { task_id });
  }
}

describe('MCP Inspector', () => {
  let installed: InstalledClient;
  beforeAll(async () => {
    installed = await installClient('inspector');
  });

  it('finds no error in any schema in both eras, verifies the skill, and delegates', async () => {
    const bridge = await startClientBridge();
    const config = join(bridge.workplace.root, 'inspector.json');
    await writeFile(config, JSON.stringify({ mcpServers: { bridge: { type: 'stdio', ...bridge.server } } }));
    const inspectors = ['legacy', 'modern'].map((era) => new Inspector(installed, bridge, config, era));
    for (const inspector of inspectors) {
      // Exits with 6 when a schema has an error.
      const tools = await inspector.list('tools', '--strict');
      expect(tools).toEqual(expect.arrayContaining([...bridge.tools]));
      expect(await inspector.list('resources')).toContain('config://current');
      const read = await inspector.ask('--method', 'resources/read', '--uri', 'config://current');
      expect(read).toContain(bridge.workplace.projectsDir);
      expect(await inspector.list('prompts')).toContain('delegate');
      const words = ['--prompt-name', 'delegate', '--prompt-args', 'request=Fix the bug'];
      expect(await inspector.ask('--method', 'prompts/get', ...words)).toContain('Fix the bug');
      expect(await inspector.delegate(bridge.project)).toMatchObject({ status: 'completed' });
    }
    const tools = `${bridge.tools.length} in both eras, \`--strict\` without an error`;
    record('inspector', installed, {
      tools,
      delegation: 'both eras',
      calledBack: 'waits for the end itself, in the modern era',
      resources: 'listed, read',
      prompts: 'listed, filled',
    });
  });
});
