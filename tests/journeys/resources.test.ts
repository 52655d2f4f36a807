// The specification of the delegation server: "MCP Resources Specification".
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
  const path = await bridge().newProject(name);
  const id = await bridge().start({ path, prompt: `AGENT: ${behaviour}` });
  await bridge().end(id);
  return id;
}

test('the three resources of the specification are listed, logs with their tasks, and others are none', async () => {
  const id = await ended('listed', 'exit 0');
  const uris = await bridge().mcp.listResources();
  expect(uris).toEqual(expect.arrayContaining([`logs://${id}`, 'tasks://active', 'config://current']));
  await expect(bridge().mcp.readResource('nothing://here')).rejects.toThrow();
  await expect(bridge().mcp.readResource('logs://task_nonexistent')).rejects.toThrow(
    /TASK_NOT_FOUND|not found/i,
  );
});

test('logs://{task_id} is the log file of the project: start, prompt, output and how it ended, in order, with times and without escape codes', async () => {
  const path = await bridge().newProject('full');
  const id = await bridge().start({ path, prompt: 'AGENT: repaints-prompt' });
  await bridge().end(id);
  const log = await bridge().mcp.readResource(`logs://${id}`);
  const parts = [
    'Task started',
    'Prompt: AGENT: repaints-prompt',
    'GOT:y',
    'Task completed with exit code 0',
  ];
  const places = parts.map((words) => log.indexOf(words));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(log).toMatch(new RegExp(`^${TIME} Task started\n${TIME} Prompt: `));
  expect(log).toMatch(new RegExp(`^${TIME} Task completed with exit code 0.*\n?$`, 'm'));
  expect(log).not.toMatch(/[\u001b\u009b]/);
  expect(log).toBe(await readFile(join(path, '.claude', 'mcp-logs', `${id}.log`), 'utf8'));
  const failed = await bridge().mcp.readResource(`logs://${await ended('failed', 'exit 3')}`);
  expect(failed.trimEnd().split('\n').at(-1)).toMatch(new RegExp(`^${TIME} Task failed with exit code 3`));
});

test('tasks://active lists the tasks that run, and no others', async () => {
  await bridge().killAll();
  await ended('over', 'exit 0');
  const projectPath = await bridge().newProject('active');
  const id = await bridge().start({ path: projectPath, prompt: 'AGENT: never-exits' });
  const { tasks } = activeSchema.parse(JSON.parse(await bridge().mcp.readResource('tasks://active')));
  expect(tasks).toMatchObject([{ id, status: 'running', projectPath }]);
  await bridge().call('kill_task', { task_id: id });
  expect(JSON.parse(await bridge().mcp.readResource('tasks://active'))).toEqual({ tasks: [] });
});

test('config://current shows the settings in force, and leaves out what is secret', async () => {
  expect(JSON.parse(await bridge().mcp.readResource('config://current'))).toMatchObject({
    allowed_roots: [bridge().workplace.projectsDir],
    default_timeout_seconds: 3_600,
    max_log_size_bytes: 10_485_760,
    task_history_size: 500,
    default_tree_depth: 2,
    max_diff_size_bytes: 32_768,
  });
  const env = { MCP_CLAUDE_COMMAND: `env TOKEN=hidden-word ${scriptedAgent}` };
  const client = await bridge().another('modern', { env });
  const shown = await client.mcp.readResource('config://current');
  expect(shown).toContain('TOKEN=');
  expect(shown).not.toContain('hidden-word');
});

test('slash commands lead from a request to its review', async () => {
  const { mcp } = bridge();
  expect(await mcp.listPrompts()).toEqual(['continue', 'delegate', 'investigate', 'review']);
  const request = 'Fix the "login".';
  const delegating = await mcp.getPrompt('delegate', { request, path: bridge().project });
  expect(delegating).toContain(request);
  expect(delegating).toContain('start_task');
  const failed = await ended('to-investigate', 'exit 3');
  expect(await mcp.getPrompt('investigate', {})).toContain(failed);
  expect(await mcp.getPrompt('review', { task_id: failed })).toContain(failed);
  const done = await ended('to-continue', 'exit 0');
  expect(await mcp.getPrompt('continue', { request: 'And a test.' })).toContain(done);
  await expect(mcp.getPrompt('review', { task_id: 'task_nonexistent' })).rejects.toThrow('TASK_NOT_FOUND');
});
