// The specification of the delegation server: "MCP Resources Specification".
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { sharedBridge } from '../harness/start-bridge.js';

const bridge = sharedBridge({ claude: scriptedAgent });

const activeSchema = z.object({
  tasks: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      projectPath: z.string(),
      createdAt: z.iso.datetime(),
      elapsedSeconds: z.int(),
    }),
  ),
});
const TIME = String.raw`\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z\]`;

async function ended(name: string, behaviour: string): Promise<string> {
  const path = await bridge().workplace.project(name);
  const id = await bridge().start({ path, prompt: `AGENT: ${behaviour}` });
  await bridge().end(id);
  return id;
}

test('the three resources of the specification are listed, logs with their tasks', async () => {
  const id = await ended('listed', 'exit 0');
  const uris = await bridge().mcp.listResources();
  expect(uris).toEqual(expect.arrayContaining([`logs://${id}`, 'tasks://active', 'config://current']));
});

describe('logs://{task_id}', () => {
  test('is the full log: when it started, the prompt, what was printed, in order and with times', async () => {
    const id = await ended('full', 'echo');
    const log = await bridge().mcp.readResource(`logs://${id}`);
    expect(log).toMatch(new RegExp(`^${TIME} Task started`, 'm'));
    expect(log).toMatch(new RegExp(`^${TIME} Prompt: AGENT: echo`, 'm'));
    const places = ['Task started', 'Prompt: AGENT: echo', 'BYTES:11', 'Task completed'].map((words) =>
      log.indexOf(words),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  test('ends with the line "Task completed with exit code 0"', async () => {
    const completed = await bridge().mcp.readResource(`logs://${await ended('code-0', 'exit 0')}`);
    expect(completed).toMatch(new RegExp(`^${TIME} Task completed with exit code 0`, 'm'));
    const failed = await bridge().mcp.readResource(`logs://${await ended('code-3', 'exit 3')}`);
    expect(failed).toMatch(new RegExp(`^${TIME} Task failed with exit code 3`, 'm'));
  });

  test('has no escape codes', async () => {
    const log = await bridge().mcp.readResource(`logs://${await ended('codes', 'repaints-prompt')}`);
    expect(log).toContain('GOT:y');
    expect(log).not.toMatch(/[\u001b\u009b]/);
  });

  test('is the log file of the project', async () => {
    const id = await ended('file', 'exit 0');
    const file = join(bridge().workplace.projectsDir, 'file', '.claude', 'mcp-logs', `${id}.log`);
    expect(await bridge().mcp.readResource(`logs://${id}`)).toBe(await readFile(file, 'utf8'));
  });

  test('of an unknown task is an error', async () => {
    await expect(bridge().mcp.readResource('logs://task_nonexistent')).rejects.toThrow(
      /TASK_NOT_FOUND|not found/i,
    );
  });
});

describe('tasks://active', () => {
  test('lists the tasks that run, and no others', async () => {
    await ended('over', 'exit 0');
    const projectPath = await bridge().workplace.project('active');
    const id = await bridge().start({ path: projectPath, prompt: 'AGENT: never-exits' });
    const { tasks } = activeSchema.parse(JSON.parse(await bridge().mcp.readResource('tasks://active')));
    expect(tasks).toMatchObject([{ id, status: 'running', projectPath }]);
    await bridge().call('kill_task', { task_id: id });
    expect(JSON.parse(await bridge().mcp.readResource('tasks://active'))).toEqual({ tasks: [] });
  });
});

describe('config://current', () => {
  test('shows the settings in force', async () => {
    expect(JSON.parse(await bridge().mcp.readResource('config://current'))).toMatchObject({
      allowed_roots: [bridge().workplace.projectsDir],
      default_timeout_seconds: 3_600,
      max_log_size_bytes: 10_485_760,
      task_history_size: 20,
      default_tree_depth: 2,
      max_diff_size_bytes: 32_768,
    });
  });

  test('leaves out what is secret', async () => {
    const env = { MCP_CLAUDE_COMMAND: `env TOKEN=hidden-word ${scriptedAgent}` };
    const client = await bridge().another('modern', { env });
    const shown = await client.mcp.readResource('config://current');
    expect(shown).toContain('TOKEN=');
    expect(shown).not.toContain('hidden-word');
  });
});

test('an unknown resource is an error', async () => {
  await expect(bridge().mcp.readResource('nothing://here')).rejects.toThrow();
});
