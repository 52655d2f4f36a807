import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { isFinal, type TaskRecord } from '../../../src/tasks/task.js';
import { program } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const LIMIT_MS = 60_000;
/** How long a task goes on without a server. */
const GRACE_SECONDS = 30;

/** Read from disk, since a server that asks would be one that came back. */
async function endOf(bridge: TestBridge, taskId: string): Promise<TaskRecord> {
  const read = (): Promise<TaskRecord> => bridge.record(taskId);
  await expect.poll(async () => isFinal((await read()).status), { timeout: LIMIT_MS }).toBe(true);
  return read();
}

/** Its agents end when they are let go, each by its prompt. */
async function disconnecting(
  way: 'stop' | 'keep',
): Promise<TestBridge & { letGo(prompt?: string): Promise<void> }> {
  const script = 'read -r prompt; echo working; while [ ! -e "$HOME/$prompt" ]; do sleep 0.1; done';
  const bridge = await startBridge({ claude: program('agent', script), env: { MCP_ON_DISCONNECT: way } });
  const letGo = (prompt = 'Work.'): Promise<void> => writeFile(join(bridge.workplace.homeDir, prompt), '');
  return Object.assign(bridge, { letGo });
}

/** Nothing happens then that could be awaited. */
async function graceIsOver(): Promise<void> {
  await pause(1.2 * GRACE_SECONDS * 1_000);
}

async function endsWithItsOnlyServer(): Promise<void> {
  const bridge = await disconnecting('stop');
  const taskId = await bridge.start();
  process.kill(bridge.mcp.pid, 'SIGKILL');
  const end = await endOf(bridge, taskId);
  expect(end.status).toBe('killed');
  expect(end.reason).toContain(`none came back within ${GRACE_SECONDS} seconds (on_disconnect is "stop")`);
}

async function goesOnWithAnotherServer(): Promise<void> {
  const bridge = await disconnecting('stop');
  const other = await bridge.another();
  const taskId = await bridge.start();
  // The server that started it was told before the record said so.
  await expect.poll(async () => (await other.status(taskId)).status).toBe('running');
  process.kill(bridge.mcp.pid, 'SIGKILL');
  await graceIsOver();
  await bridge.letGo();
  expect(await endOf(bridge, taskId)).toMatchObject({ status: 'completed' });
}

async function queuedTaskGoesOnWithItsServer(): Promise<void> {
  const bridge = await disconnecting('stop');
  await bridge.start({ prompt: 'First.' });
  const taskId = await bridge.start({ on_conflict: 'queue' });
  await bridge.letGo('First.');
  await expect.poll(async () => (await bridge.record(taskId)).status).toBe('running');
  await graceIsOver();
  await bridge.letGo();
  expect(await endOf(bridge, taskId)).toMatchObject({ status: 'completed' });
}

async function goesOnWithoutServerWhenKept(): Promise<void> {
  const bridge = await disconnecting('keep');
  const taskId = await bridge.start();
  process.kill(bridge.mcp.pid, 'SIGKILL');
  await graceIsOver();
  await bridge.letGo();
  expect(await endOf(bridge, taskId)).toMatchObject({ status: 'completed' });
}

// Side by side, since each waits until the grace time is over.
it('on_disconnect "stop": a task whose only server was killed is ended, and its record says why; with another server, as the next of a queue, and with "keep" it goes on to its own end', async () => {
  await Promise.all([
    endsWithItsOnlyServer(),
    goesOnWithAnotherServer(),
    queuedTaskGoesOnWithItsServer(),
    goesOnWithoutServerWhenKept(),
  ]);
});
