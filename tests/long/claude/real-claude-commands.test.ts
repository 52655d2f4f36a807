import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeRealClaude, drivers } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

/** Files of a hostile project: each runs `touch <mark>` when a program can be made to run it. */
const files: Readonly<Record<string, string>> = {
  version: "require('node:fs').writeFileSync('ran-node', '');\n",
  'a[$(touch ran-index)]': '',
  '1/.config/git/config': '[core]\n\tfsmonitor = "touch ran-monitor;"\n',
};

/** Each runs a program that the line does not name, when it is let through: in a file, in data, in a setting, in what the shell expands. */
const payloads: readonly string[] = [
  'node version',
  'test -v a*',
  'for HOME in $PWD/1; do git status; done',
  'cat <=(touch ran-equals)',
];

describeRealClaude('commands in mode cautious', ({ binary }) => {
  it.each(drivers)(
    'what hides a command in data, names or options is asked about, and nothing runs (%s)',
    async (driver) => {
      const bridge = await startBridge({
        claude: binary,
        script: [...payloads.map((line) => runs(line)), says('Done.')],
      });
      for (const [name, text] of Object.entries(files)) {
        await mkdir(join(bridge.project, name, '..'), { recursive: true });
        await writeFile(join(bridge.project, name), text);
      }
      const id = await bridge.start({
        prompt: 'Go.',
        path: bridge.project,
        permission_mode: 'cautious',
        driver,
      });
      const asked: unknown[] = [];
      for (const _ of payloads) {
        const decision = await bridge.answerNext(id, { verdict: 'deny', message: 'No.' });
        asked.push(decision.summary);
      }
      expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Done.' });
      expect(asked).toHaveLength(payloads.length);
      const ran = ['node', 'index', 'monitor', 'equals'];
      expect(ran.filter((name) => existsSync(join(bridge.project, `ran-${name}`)))).toEqual([]);
    },
  );
});

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
      const id = await bridge.start({ prompt: 'Start it.', path: bridge.project, driver });
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
    const id = await bridge.start({ prompt: 'Wait.', path: bridge.project });
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
