import { expect, it } from 'vitest';
import { describeRealClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

describeRealClaude('a command that goes on', ({ binary }) => {
  it.each(['interactive', 'print'])(
    'in the background is in log and receipt with its output and exit code (%s)',
    async (driver) => {
      const command = 'echo begun; sleep 1; echo done; exit 3';
      const background = { name: 'Bash', input: { command, description: 'b', run_in_background: true } };
      const bridge = await startBridge({
        claude: binary,
        script: [{ tools: [background] }, says('Started.'), says('It ended.')],
      });
      const id = await bridge.start({ prompt: 'Start it.', driver });
      await bridge.end(id);
      expect((await bridge.output(id, 'log')).text).toMatch(
        /: runs in the background\n[^]*✗ Bash\(.*\): exit code 3\n {4}begun\n {4}done\n/,
      );
      expect(await bridge.call('get_task_result', { task_id: id })).toMatchObject({
        receipt: { commands: [{ command, exit_code: 3, output: 'begun\ndone' }], commands_failed: 1 },
      });
    },
  );

  it('until the task is killed is in log and receipt with what it had printed', async () => {
    const command = 'echo begun; sleep 60';
    const bridge = await startBridge({ claude: binary, script: [runs(command), says('Woke up.')] });
    const id = await bridge.start({ prompt: 'Wait.' });
    await bridge.until(id, async () => (await bridge.output(id, 'log')).text.includes('▶ Bash'));
    await bridge.until(id, async () => (await bridge.output(id, 'screen')).text.includes('ctrl+b'));
    await bridge.call('kill_task', { task_id: id });
    const { text } = await bridge.output(id, 'log');
    expect(text.match(/✗ Bash\(echo begun; sleep 60\): .*\n {4}begun\n/g)).toHaveLength(1);
    expect(await bridge.call('get_task_result', { task_id: id })).toMatchObject({
      receipt: { commands: [{ command, output: 'begun' }] },
    });
  });
});
