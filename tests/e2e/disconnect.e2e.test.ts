import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../harness/start-bridge.js';

const LIMIT_MS = 30_000;
const recordSchema = z.looseObject({ status: z.string(), reason: z.string() });

/** Its grace is one second; read from disk, since a server that asks would be one that came back. */
async function endOf(bridge: TestBridge, taskId: string): Promise<z.infer<typeof recordSchema>> {
  const path = join(bridge.workplace.stateDir, 'tasks', taskId, 'record.json');
  const read = async (): Promise<z.infer<typeof recordSchema>> =>
    recordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  await expect.poll(async () => (await read()).status, { timeout: LIMIT_MS }).not.toBe('running');
  return read();
}

function disconnecting(way: 'stop' | 'keep'): Promise<TestBridge> {
  return startBridge({
    claude: scriptedAgent,
    env: { MCP_ON_DISCONNECT: way, MCP_ON_DISCONNECT_GRACE: '1' },
  });
}

it('on_disconnect "stop": a task whose only server was killed is ended, and its record says why', async () => {
  const bridge = await disconnecting('stop');
  const taskId = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  process.kill(bridge.mcp.pid, 'SIGKILL');
  const end = await endOf(bridge, taskId);
  expect(end.status).toBe('killed');
  expect(end.reason).toContain('none came back within 1 seconds (on_disconnect is "stop")');
});

it('on_disconnect "stop": a task that another server knows goes on to its own end', async () => {
  const bridge = await disconnecting('stop');
  const other = await bridge.another();
  const taskId = await bridge.start({ prompt: 'AGENT: exits-after 5000', path: bridge.project });
  // The server that started it was told before the record said so.
  await expect.poll(async () => (await other.status(taskId)).status).toBe('running');
  process.kill(bridge.mcp.pid, 'SIGKILL');
  expect(await endOf(bridge, taskId)).toMatchObject({ status: 'completed' });
});

it('on_disconnect "keep": a task goes on without any server', async () => {
  const bridge = await disconnecting('keep');
  const taskId = await bridge.start({ prompt: 'AGENT: exits-after 3000', path: bridge.project });
  process.kill(bridge.mcp.pid, 'SIGKILL');
  expect(await endOf(bridge, taskId)).toMatchObject({ status: 'completed' });
});
