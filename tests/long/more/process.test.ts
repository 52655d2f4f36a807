import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startBridge } from '../../harness/start-bridge.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import type { TaskClient } from '../../harness/task-client.js';
import type { Era } from '../../harness/mcp-clients.js';

const SPAWN_LIMIT_MS = 10_000;

const stateSchema = z.looseObject({ pid: z.string(), status: z.string() });
const listSchema = z.object({
  processes: z.array(
    stateSchema.extend({ command: z.string(), ports: z.array(z.number()).optional(), keep: z.boolean() }),
  ),
});

async function openBridge(era: Era = 'modern') {
  const bridge = await startBridge({
    claude: scriptedAgent,
    era,
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

describe('processes, with a client that shares no code with the server', () => {
  test('are run, followed, typed into and ended', async () => {
    const bridge = await openBridge('foreign');
    const done = await spawn(bridge, { command: 'sh', args: ['-c', 'pwd; echo bad >&2; exit 3'] });
    expect(done).toMatchObject({
      status: 'terminated',
      exit_code: 3,
      stdout: `${bridge.project}\n`,
      stderr: 'bad\n',
    });
    const { pid } = await spawn(bridge, { command: 'cat', background: true });
    expect(await bridge.call('stdin', { pid, text: 'hello\n' })).toMatchObject({ stdout: 'hello\n' });
    expect(await bridge.call('stdout', { pid })).toMatchObject({ text: 'hello\n', cursor: 6, more: false });
    expect(await bridge.call('kill', { pid, signal: 'INT' })).toMatchObject({
      status: 'terminated',
      signal: 'SIGINT',
    });
  });
});

describe('the toolset process', () => {
  test('is not offered unless chosen', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    expect(await bridge.mcp.listTools()).not.toContain('spawn');
  });

  test('goes on in the background when the time is over, and shows the port of a server', async () => {
    const bridge = await openBridge();
    const script = 'require("net").createServer().listen(0, () => console.log("up"))';
    const started = await spawn(bridge, {
      command: process.execPath,
      args: ['-e', script],
      timeout_seconds: 1,
    });
    expect(started).toMatchObject({ status: 'running' });
    expect(started['note']).toContain('goes on in the background');
    await expect
      .poll(async () => (await list(bridge))[0]?.ports?.length, { timeout: SPAWN_LIMIT_MS })
      .toBe(1);
  });

  test('answers each fault with its code and what to do', async () => {
    const bridge = await openBridge();
    const words = async (tool: string, args: Readonly<Record<string, unknown>>) =>
      (await bridge.mcp.callTool(tool, args)).content[0]?.text;
    expect(await words('spawn', { command: 'ls -la' })).toMatch(/^PROGRAM_NOT_FOUND: .* args/);
    expect(await words('spawn', { command: 'ls', args: ['-l'], shell: true })).toMatch(/^INVALID_ARGUMENTS/);
    expect(await words('spawn', { command: 'ls', cwd: '/' })).toMatch(/^PATH_NOT_ALLOWED/);
    expect(await words('stdout', { pid: 'proc_nothing' })).toMatch(/^PROCESS_NOT_FOUND/);
    expect(await words('kill', { pid: 'x', signal: 'SIGNOTHING' })).toMatch(
      /^INVALID_ARGUMENTS: .*SIGNOTHING/,
    );
  });

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
