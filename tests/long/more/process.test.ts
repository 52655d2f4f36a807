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

describe.each<Era>(['modern', 'foreign'])('processes, with a client of the %s era', (era) => {
  test('are run, followed, typed into and ended', async () => {
    const bridge = await openBridge(era);
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

  test('steers a REPL in a terminal', async () => {
    const bridge = await openBridge();
    const { pid } = await spawn(bridge, {
      command: process.execPath,
      args: ['-i'],
      tty: { columns: 90, rows: 20 },
      timeout_seconds: 1,
      env: { NODE_REPL_HISTORY: '' },
    });
    const input = { pid, text: '6 * 7', keys: ['enter'], wait_for: '^42', timeout_seconds: 20 };
    expect(await bridge.call('stdin', input)).toMatchObject({ status: 'running' });
    // The prompt shows what will come of it before it is entered, and takes that away again.
    await expect
      .poll(async () => (await bridge.call('stdout', { pid, screen: true }))['screen'])
      .toMatch(/^42$/m);
    await bridge.call('stdin', { pid, keys: ['ctrl-d'] });
    await expect
      .poll(async () => bridge.call('stdout', { pid }))
      .toMatchObject({ status: 'terminated', exit_code: 0 });
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
    const stubborn = "trap '' TERM; setsid sh -c 'sleep 600' & while :; do sleep 0.05; done";
    await spawn(bridge, { command: stubborn, shell: true, background: true });
    for (let count = 0; count < 5; count++)
      await spawn(bridge, { command: 'sleep', args: ['600'], background: true });
    expect((await bridge.workplace.processes()).length).toBeGreaterThan(6);
    await bridge.mcp.close();
    await bridge.workplace.settled();
  });

  test('ends what a killed server left, with the first call of the next one', async () => {
    const bridge = await openBridge();
    const { pid } = await spawn(bridge, {
      command: 'echo up; exec sleep 600',
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

  test('keeps what is to be kept, for any later server', async () => {
    const bridge = await openBridge();
    const { pid } = await spawn(bridge, {
      command: 'while read -r x; do echo "got $x"; done; exit 5',
      shell: true,
      keep: true,
      background: true,
    });
    await bridge.call('stdin', { pid, text: 'one\n' });
    await bridge.mcp.close();
    const next = await bridge.another('legacy');
    expect(await list(next)).toMatchObject([{ pid, status: 'running', keep: true }]);
    expect(await next.call('stdin', { pid, text: 'two\n' })).toMatchObject({ stdout: 'got two\n' });
    expect(await next.call('stdout', { pid })).toMatchObject({ text: 'got one\ngot two\n' });
    expect(await next.call('stdin', { pid, eof: true })).toMatchObject({
      status: 'terminated',
      exit_code: 5,
    });
    await next.mcp.close();
    await bridge.workplace.settled();
    expect(await readdir(join(bridge.workplace.stateDir, 'processes', pid))).toContain('stdout.0');
  });

  test('tells why a process to be kept could not be started, and leaves nothing', async () => {
    const bridge = await openBridge();
    const refused = await bridge.mcp.callTool('spawn', { command: 'no-such-program', keep: true });
    expect(refused.content[0]?.text).toMatch(/^PROGRAM_NOT_FOUND/);
    expect(await readdir(join(bridge.workplace.stateDir, 'processes'))).toEqual([]);
  });
});
