import { describe, expect, test } from 'vitest';
import { findResource } from '../../src/mcp/resource.js';
import { offeredResources } from '../../src/resources/offered-resources.js';
import { allResources } from '../../src/resources/registry.js';
import { enabledTools } from '../../src/tools/registry.js';
import { configSchema } from '../../src/config/schema.js';
import { allTools } from '../tools/all-tools.js';
import { FakeTaskService, noReceipts } from '../tools/fake-task-service.js';

const all = allTools.map(({ name }) => name);
const SKILL = 'skill://claude-code-bridge/SKILL.md';
const config = configSchema.parse({ allowed_roots: ['/home/ann'] });
const tasks = new FakeTaskService();
const services = {
  tasks: async () => tasks,
  receipts: async () => noReceipts,
  appPage: async (file: string) => `the page ${file}`,
  config,
};

/** The skill as a server with these toolsets offers it. */
async function skillWith(...toolsets: string[]): Promise<string | undefined> {
  const offered = new Set(enabledTools(toolsets).map(({ name }) => name));
  return findResource(offeredResources(allResources, { offered, all }), SKILL)?.resource.read('', services);
}

describe('the skill', () => {
  test.each(['files', 'git', 'conversation', 'delegate', 'process', 'project'])(
    'is not offered with %s alone',
    async (toolset) => {
      expect(await skillWith(toolset)).toBeUndefined();
    },
  );

  test('is whole where every tool is offered', async () => {
    const toolsets = [...new Set(allTools.map(({ toolset }) => toolset))];
    const whole = findResource(allResources, SKILL)?.resource.read('', services);
    expect(await skillWith(...toolsets)).toBe(await whole);
  });

  test.each([[['tasks']], [['tasks', 'git']], [['tasks', 'files', 'conversation']]])(
    'names with %j no tool that is not offered',
    async (toolsets) => {
      const text = (await skillWith(...toolsets)) ?? '';
      const offered = new Set(enabledTools(toolsets).map(({ name }) => name));
      for (const name of all) if (!offered.has(name)) expect(text).not.toContain(`\`${name}\``);
      expect(text).toMatch(/^---\nname: [^]*# Working with Claude Code through the bridge\n\n/);
      expect(text).toContain('`get_task_result`');
      const numbers = [...text.matchAll(/^## (\d)\./gm)].map(([, number]) => Number(number));
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      expect(text).not.toMatch(/\n\n\n/);
    },
  );
});
