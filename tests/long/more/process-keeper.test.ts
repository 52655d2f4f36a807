import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { processRecordSchema } from '../../../src/processes/process-record.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

async function open(): Promise<TestBridge> {
  const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_TOOLSETS: 'process,project' } });
  await bridge.call('set_active_project', { path: bridge.project });
  return bridge;
}

/** A kept process that repeats each line, and its keeper. */
async function kept() {
  const bridge = await open();
  const started = await bridge.call('spawn', { command: 'cat', keep: true, background: true });
  const pid = String(started['pid']);
  const path = join(bridge.workplace.stateDir, 'processes', pid, 'record.json');
  const { owner, socket_path: socketPath } = processRecordSchema.parse(
    JSON.parse(await readFile(path, 'utf8')),
  );
  if (socketPath === null) throw new Error('It has no socket.');
  return { bridge, pid, keeper: owner.pid, socketPath };
}

it('kill: a keeper that was halted goes on, and ends its process itself', async () => {
  const { bridge, pid, keeper } = await kept();
  process.kill(keeper, 'SIGSTOP');
  expect(await bridge.call('kill', { pid })).toMatchObject({ status: 'terminated', signal: 'SIGTERM' });
  await bridge.onlyServer();
  const log = await readFile(join(bridge.workplace.stateDir, 'processes', pid, 'keeper.log'), 'utf8');
  expect(log).toContain(`[INFO] The keeper of ${pid} started`);
  expect(log).toContain('[INFO] The process ended {"exit_code":null,"signal":"SIGTERM"}');
});

it('kill: a keeper that takes no connection is told to end its process', async () => {
  const { bridge, pid, socketPath } = await kept();
  await bridge.mcp.close();
  await rm(socketPath);
  const next = await bridge.another();
  const spoken = await next.mcp.callTool('stdin', { pid, text: 'one\n' });
  expect(spoken.content[0]?.text).toMatch(/^PROCESS_UNREACHABLE: .*its keeper runs, and takes no connection/);
  expect(await next.call('kill', { pid })).toMatchObject({ status: 'terminated', signal: 'SIGTERM' });
  await until('only the next server runs', async () =>
    expect(await bridge.workplace.processes()).toEqual([next.mcp.pid]),
  );
});

it('a keeper that was halted is told as such to who writes and who waits, and serves when it goes on', async () => {
  const { bridge, pid, keeper } = await kept();
  process.kill(keeper, 'SIGSTOP');
  const asked = await Promise.all([
    bridge.mcp.callTool('stdin', { pid, text: 'one\n' }),
    bridge.mcp.callTool('stdin', { pid, timeout_seconds: 40 }),
  ]);
  for (const { content } of asked)
    expect(content[0]?.text).toMatch(/^PROCESS_UNREACHABLE: .*its keeper does not answer/);
  expect(asked[0].content[0]?.text).toContain('it acts on the request only when it continues');
  expect(await bridge.call('ps')).toMatchObject({ processes: [{ pid, status: 'running' }] });
  process.kill(keeper, 'SIGCONT');
  expect(await bridge.call('stdin', { pid, text: 'two\n', wait_for: 'two' })).toMatchObject({
    status: 'running',
    // What the keeper was asked while it was halted may come first.
    stdout: expect.stringMatching(/^(one\n)?two\n$/) as unknown,
  });
  await bridge.call('kill', { pid });
  await bridge.onlyServer();
});

it('a keeper that is killed while one waits for output is told at once', async () => {
  const { bridge, pid, keeper } = await kept();
  const waiting = bridge.mcp.callTool('stdin', { pid, timeout_seconds: 40 });
  process.kill(keeper, 'SIGKILL');
  // Who asks a moment later finds the process settled.
  expect((await waiting).content[0]?.text).toMatch(
    /^PROCESS_NOT_RUNNING: (The keeper of the process \S+ is gone|The process \S+ has ended)/,
  );
  // Its connections close a moment before it is gone.
  await until('its end is known', async () =>
    expect(await bridge.call('ps')).toMatchObject({ processes: [{ pid, status: 'terminated' }] }),
  );
  await bridge.onlyServer();
});
