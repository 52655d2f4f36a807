import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { taskRecordSchema } from '../../src/tasks/task.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { runs, says } from '../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../harness/start-bridge.js';

async function waitingKeeper(bridge: TestBridge): Promise<number> {
  await expect.poll(() => bridge.workplace.spareKeepers()).toHaveLength(1);
  return (await bridge.workplace.spareKeepers())[0] ?? 0;
}

async function keeperOf({ workplace }: TestBridge, id: string): Promise<number | undefined> {
  const text = await readFile(join(workplace.stateDir, 'tasks', id, 'record.json'), 'utf8');
  return taskRecordSchema.parse(JSON.parse(text)).keeper?.pid;
}

describe('a server that has started a task', () => {
  it('has a keeper wait for the next one, which takes it over', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, spareKeeper: true, projects: ['one', 'two'] });
    expect(await bridge.workplace.spareKeepers()).toEqual([]);
    const [one = '', two = ''] = bridge.projects;
    const first = await bridge.start({ prompt: 'AGENT: never-exits', path: one });
    const waiting = await waitingKeeper(bridge);
    const second = await bridge.start({ prompt: 'AGENT: never-exits', path: two });
    expect(await keeperOf(bridge, second)).toBe(waiting);
    for (const id of [first, second])
      expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    expect(await waitingKeeper(bridge)).not.toBe(waiting);
  });

  it('takes the keeper that waits along when it is killed, and no task', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, spareKeeper: true });
    const id = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
    await waitingKeeper(bridge);
    process.kill(bridge.mcp.pid, 'SIGKILL');
    await expect.poll(() => bridge.workplace.spareKeepers()).toEqual([]);
    const other = await bridge.another();
    expect(await other.status(id)).toMatchObject({ status: 'running' });
    await other.call('kill_task', { task_id: id });
  });
});

describeNewestClaude('a keeper that waited', ({ binary }) => {
  it('drives the real CLI as one that was started for it', async () => {
    const bridge = await startBridge({
      claude: binary,
      spareKeeper: true,
      script: [says('Nothing to do.'), runs('touch made.txt'), says('Made.')],
    });
    const first = await bridge.start({ prompt: 'Look.', path: bridge.project, permission_mode: 'cautious' });
    expect(await bridge.end(first)).toMatchObject({ status: 'completed' });
    const waiting = await waitingKeeper(bridge);
    const second = await bridge.start({ prompt: 'Make.', path: bridge.project, permission_mode: 'cautious' });
    expect(await keeperOf(bridge, second)).toBe(waiting);
    expect(await bridge.answerNext(second, { verdict: 'allow' })).toMatchObject({ kind: 'permission' });
    expect(await bridge.end(second)).toMatchObject({ status: 'completed', last_output: 'Made.' });
  });
});
