import { describe, expect, test } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import { findResource } from '../../src/mcp/resource.js';
import { MAX_REPLY_BYTES, wireBytes } from '../../src/mcp/answers.js';
import { allResources } from '../../src/resources/registry.js';
import { allTools } from '../tools/all-tools.js';
import { FakeTaskService, noReceipts, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

/** A model reads it whole. */
const MAX_SKILL_BYTES = 4_096;

describe('resources', () => {
  const tasks = new FakeTaskService(taskRecord(), taskRecord({ task_id: OTHER_ID, status: 'completed' }));
  const config = configSchema.parse({ allowed_roots: ['/home/ann'], claude_command: 'env TOKEN=abc claude' });
  const services = {
    tasks: async () => tasks,
    receipts: async () => noReceipts,
    appPage: async (file: string) => `the page ${file}`,
    config,
  };

  async function read(uri: string): Promise<string> {
    const found = findResource(allResources, uri);
    if (found === undefined) throw new Error(`nothing at ${uri}`);
    return found.resource.read(found.variable, services);
  }

  test('tasks://<id> holds the record without what is the bridge’s own', async () => {
    const text = await read(`tasks://${TASK_ID}`);
    expect(text).not.toContain('a-secret-mark');
    expect(JSON.parse(text)).toMatchObject({
      task_id: TASK_ID,
      files_changed: ['/home/ann/app/src/login.ts'],
    });
    expect(text).not.toContain('"keeper"');
    expect(text).not.toContain('.sock');
  });

  test('skill://claude-code-bridge/SKILL.md is a short skill file that names only tools there are', async () => {
    const text = await read('skill://claude-code-bridge/SKILL.md');
    expect(text).toMatch(/^---\nname: claude-code-bridge\ndescription: .+\n---\n\n# /);
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_SKILL_BYTES);
    const known: ReadonlySet<string> = new Set(allTools.map((tool) => tool.name));
    const calls = [
      ...text.matchAll(/`((?:start|wait|get|respond|message|kill|finish|git|read|search|write)_[a-z_]+)`/g),
    ];
    expect(calls.length).toBeGreaterThan(10);
    expect(calls.map((match) => match[1] ?? '').filter((name) => !known.has(name))).toEqual([]);
  });

  test('of a longer log the newest part is given, with how to read the rest', async () => {
    tasks.text = `${'old\n'.repeat(500_000)}the end\n`;
    const text = await read(`logs://${TASK_ID}`);
    expect(wireBytes(text)).toBeLessThan(MAX_REPLY_BYTES);
    expect(text).toMatch(
      /^\[The first \d+ bytes are left out\. get_task_output with task_id task_0123456789abcdef0123, view log/,
    );
    expect(text.endsWith('the end\n')).toBe(true);
  });
});
