import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { launchSpec } from '../../harness/launch-spec.js';
import { describeNewestClaude, drivers } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

/** A command of the agent's that also leaves a daemon. */
const worksForEver = runs('setsid tail -f /dev/null >/dev/null 2>&1 & touch started; tail -f /dev/null');

describeNewestClaude('the end of a task of the newest CLI', ({ binary }) => {
  it.each(drivers)(
    'a task that is killed in the middle leaves no process and a free project (%s)',
    async (driver) => {
      const bridge = await startBridge({ claude: binary, script: [worksForEver, says('Fresh.')] });
      const id = await bridge.start({ driver });
      await commandRuns(bridge);
      expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({
        status: 'killed',
        message: 'Task terminated successfully.',
      });
      await onlyTheServerLives(bridge);
      expect(await bridge.status(id)).toMatchObject({ status: 'killed', reason: 'Terminated by kill_task.' });
      expect(await bridge.refusal('kill_task', { task_id: id })).toMatch(/^TASK_NOT_RUNNING: .*killed/);
      const next = await bridge.start({ prompt: 'Again.' });
      expect(await bridge.end(next)).toMatchObject({ status: 'completed', last_output: 'Fresh.' });
    },
  );

  it('a task that takes too long ends as timeout, with nothing left', async () => {
    const bridge = await startBridge({ claude: binary, script: [worksForEver] });
    const { task_id } = await launchSpec(bridge, 'Work.', { timeout_seconds: 3 });
    const end = await bridge.end(task_id);
    expect(end).toMatchObject({ status: 'timeout' });
    expect(end.reason).toContain('3 seconds');
    expect(end.hint).toBe(
      'Task exceeded the timeout limit and was terminated. get_task_result gives its receipt.',
    );
    await onlyTheServerLives(bridge);
  });

  it('a CLI that somebody kills fails its task, and what it had started is ended', async () => {
    const bridge = await startBridge({ claude: binary, script: [worksForEver] });
    const id = await bridge.start();
    await commandRuns(bridge);
    const claude = await pidOfClaude(bridge, binary);
    process.kill(claude, 'SIGKILL');
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', exit_code: null });
    expect(end.reason).toContain('SIGKILL');
    await onlyTheServerLives(bridge);
  });
});

async function commandRuns(bridge: TestBridge): Promise<void> {
  await expect.poll(() => readFile(join(bridge.project, 'started'), 'utf8').catch(() => 'not yet')).toBe('');
}

async function onlyTheServerLives(bridge: TestBridge): Promise<void> {
  await expect.poll(() => bridge.workplace.processes()).toEqual([bridge.mcp.pid]);
}

async function pidOfClaude(bridge: TestBridge, binary: string): Promise<number> {
  for (const pid of await bridge.workplace.processes()) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.startsWith(`${binary}\0`)) return pid;
  }
  throw new Error('no claude runs');
}
