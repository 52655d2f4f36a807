import { describe, expect, test, vi } from 'vitest';
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

  test('tasks://active lists what has not ended, as the specification shows it', async () => {
    expect(JSON.parse(await read('tasks://active'))).toEqual({
      tasks: [
        {
          id: TASK_ID,
          status: 'running',
          projectPath: '/home/ann/app',
          createdAt: '2026-03-01T10:00:00.000Z',
          elapsedSeconds: 12,
        },
      ],
    });
  });

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

  test('config://current shows the settings without secrets', async () => {
    const text = await read('config://current');
    expect(JSON.parse(text)).toMatchObject({ allowed_roots: ['/home/ann'], default_timeout_seconds: 3600 });
    expect(text).not.toContain('abc');
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

  test.each(['logs://nope', 'tasks://..%2f..', `logs://task_00000000000000000000`])(
    '%s does not exist',
    async (uri) => {
      await expect(read(uri)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    },
  );

  test('a task is watched once the service is there, and no watch is left behind', async () => {
    const resource = findResource(allResources, `tasks://${TASK_ID}`)?.resource;
    const changes = vi.fn();
    resource?.watch?.(TASK_ID, services, changes).dispose();
    const watched = resource?.watch?.(TASK_ID, services, changes);
    await vi.waitFor(() => expect(tasks.watched.get(TASK_ID)).toBe(1));
    tasks.change(OTHER_ID);
    expect(changes).not.toHaveBeenCalled();
    tasks.change(TASK_ID);
    expect(changes).toHaveBeenCalledTimes(1);
    watched?.dispose();
    tasks.change(TASK_ID);
    expect(changes).toHaveBeenCalledTimes(1);
    expect([...tasks.watched.values()].every((count) => count === 0)).toBe(true);
  });
});
