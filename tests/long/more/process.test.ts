import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startBridge } from '../../harness/start-bridge.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import type { TaskClient } from '../../harness/task-client.js';

const SPAWN_LIMIT_MS = 10_000;

const stateSchema = z.looseObject({ pid: z.string(), status: z.string() });
const listSchema = z.object({
  processes: z.array(
    stateSchema.extend({ command: z.string(), ports: z.array(z.number()).optional(), keep: z.boolean() }),
  ),
});

async function openBridge() {
  const bridge = await startBridge({
    claude: scriptedAgent,
    env: { MCP_TOOLSETS: 'process,project' },
  });
  await bridge.call('set_active_project', { path: bridge.project });
  return bridge;
}

async function spawn(client: TaskClient, args: Readonly<Record<string, unknown>>) {
  return stateSchema.parse(await client.call('spawn', args));
}

async function list(client: TaskClient) {
  return listSchema.parse(await client.call('ps')).processes;
}

describe('the toolset process', () => {
  test('ends everything with the server', async () => {
    const bridge = await openBridge();
    const stubborn = "trap '' TERM; while :; do sleep 0.05; done";
    await spawn(bridge, { command: stubborn, shell: true, background: true });
    for (let count = 0; count < 5; count++)
      await spawn(bridge, { command: 'sleep', args: ['600'], background: true });
    expect((await bridge.workplace.processes()).length).toBeGreaterThan(5);
    await bridge.mcp.close();
    await bridge.workplace.settled();
  });

  test('ends what a killed server left, also outside of its group, with the first call of the next one', async () => {
    const bridge = await openBridge();
    const { pid } = await spawn(bridge, {
      command: "setsid sh -c 'sleep 600' & echo up; exec sleep 600",
      shell: true,
      background: true,
    });
    await expect
      .poll(async () => (await bridge.call('stdout', { pid }))['text'], { timeout: SPAWN_LIMIT_MS })
      .toBe('up\n');
    process.kill(bridge.mcp.pid, 'SIGKILL');
    const next = await bridge.another();
    await expect
      .poll(async () => (await list(next))[0]?.status, { timeout: SPAWN_LIMIT_MS })
      .toBe('terminated');
    expect(await next.call('stdout', { pid })).toMatchObject({ text: 'up\n', status: 'terminated' });
    await next.mcp.close();
    await bridge.workplace.settled();
  });

  test('tells why a process to be kept could not be started, and leaves nothing', async () => {
    const bridge = await openBridge();
    const refused = await bridge.mcp.callTool('spawn', { command: 'no-such-program', keep: true });
    expect(refused.content[0]?.text).toMatch(/^PROGRAM_NOT_FOUND/);
    expect(await readdir(join(bridge.workplace.stateDir, 'processes'))).toEqual([]);
  });
});
