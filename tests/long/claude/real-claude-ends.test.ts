import { expect, it } from 'vitest';
import { describeNewestClaude, drivers } from '../../harness/real-claude.js';
import { realPid } from '../../harness/real-pid.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

/** A command of the agent's that also leaves a daemon. */
const worksForEver = runs('setsid tail -f /dev/null >/dev/null 2>&1 & touch started; tail -f /dev/null');

describeNewestClaude('the end of a task of the newest CLI', ({ binary }) => {
  it.each(drivers)(
    'a task that is killed in the middle leaves no process and a free project (%s)',
    async (driver) => {
      const bridge = await startBridge({ claude: binary, script: [worksForEver, says('Fresh.')] });
      const id = await bridge.start({ driver });
      await bridge.untilHas('started');
      expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({
        status: 'killed',
        message: 'Task terminated successfully.',
      });
      await bridge.onlyServer();
      expect(await bridge.status(id)).toMatchObject({ status: 'killed', reason: 'Terminated by kill_task.' });
      expect(await bridge.refusal('kill_task', { task_id: id })).toMatch(/^TASK_NOT_RUNNING: .*killed/);
      const next = await bridge.start({ prompt: 'Again.' });
      expect(await bridge.end(next)).toMatchObject({ status: 'completed', last_output: 'Fresh.' });
    },
  );

  it('a CLI that somebody kills fails its task, and what it had started is ended', async () => {
    const bridge = await startBridge({ claude: binary, script: [worksForEver] });
    const id = await bridge.start();
    await bridge.untilHas('started');
    process.kill(realPid((await bridge.record(id)).agent?.pid), 'SIGKILL');
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', exit_code: null });
    expect(end.reason).toContain('SIGKILL');
    await bridge.onlyServer();
  });
});
