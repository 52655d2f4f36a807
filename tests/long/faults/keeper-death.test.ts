import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { realPid } from '../../harness/real-pid.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

const POLL = { timeout: 20_000, interval: 50 };

it.each([
  {
    keeper: 'was halted',
    break: async (pid: number) => void process.kill(pid, 'SIGSTOP'),
  },
  {
    keeper: 'is out of reach',
    break: (_pid: number, socketPath: string) => rm(socketPath),
  },
])('kill_task: a keeper that $keeper is ended with its task', async ({ break: breakIt }) => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const id = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  const next = await bridge.start({ prompt: 'AGENT: exit', path: bridge.project, on_conflict: 'queue' });
  await expect.poll(async () => (await bridge.record(id)).agent, POLL).toBeTruthy();
  const { keeper, socket_path: socketPath } = await bridge.record(id);
  await breakIt(realPid(keeper?.pid), socketPath);
  expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
  expect(await bridge.end(id)).toMatchObject({
    status: 'killed',
    reason: expect.stringContaining(
      'Terminated by kill_task. Its keeper did not answer and was ended, too.',
    ) as unknown,
  });
  expect(await bridge.end(next)).toMatchObject({ status: 'completed' });
  await expect.poll(() => bridge.workplace.processes(), POLL).toEqual([bridge.mcp.pid]);
});

it('a task whose record cannot be read is killed by its keeper, and ends as error when that is killed', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  for (const isKilled of [true, false]) {
    const id = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
    await expect.poll(async () => (await bridge.record(id)).agent, POLL).toBeTruthy();
    const keeper = realPid((await bridge.record(id)).keeper?.pid);
    const path = join(bridge.workplace.stateDir, 'tasks', id, 'record.json');
    // One that goes on writes its record again.
    if (!isKilled) process.kill(keeper, 'SIGSTOP');
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, -100));
    if (isKilled) expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    else process.kill(keeper, 'SIGKILL');
    expect(await bridge.end(id)).toMatchObject(
      isKilled
        ? { status: 'killed' }
        : { status: 'error', reason: expect.stringContaining('cannot be read') as unknown },
    );
  }
});
