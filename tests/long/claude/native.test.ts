import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  onlySession,
  pathWithCommand,
  personalClaude,
  sessionWithPlugin,
} from '../../harness/native-plugin.js';
import { describeRealClaude } from '../../harness/real-claude.js';
import { realPid } from '../../harness/real-pid.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

const pluginFolder = join(import.meta.dirname, '../../../plugins/code-bridge');
const ASKS = 'Do you want to proceed?';

function answers(bridge: TestBridge, taskId: string) {
  return async () =>
    (await bridge.record(taskId)).decisions.map(({ verdict, answered_by }) => `${verdict} ${answered_by}`);
}

describeRealClaude('a session that a person started, with the plugin', ({ binary }) => {
  test('is answered by the bridge or in its terminal, whichever comes first, and ends with its person', async () => {
    const script = [
      runs('touch alone'),
      says('The first is done.'),
      runs('touch allowed'),
      says('The second is done.'),
      runs('touch refused'),
      says('The third is done.'),
      runs('touch at-terminal && sleep 6'),
      says('The fourth is done.'),
    ];
    const { bridge, terminal } = await sessionWithPlugin({ claude: binary, script });

    await terminal.prompt('make the first');
    await terminal.sees(ASKS);
    const taskId = await onlySession(bridge);
    const alone = await bridge.until(taskId, ({ status }) => status === 'waiting');
    expect(alone.reason).toBe('Waits for an answer to: Bash(touch alone)');
    await terminal.press('1', terminal.sees('The first is done.'));

    await terminal.prompt('make the second');
    const asked = await bridge.decision(taskId);
    expect(asked).toMatchObject({ kind: 'permission', summary: 'Bash(touch allowed)' });
    expect(existsSync(join(bridge.project, 'allowed'))).toBe(false);
    await bridge.respond(taskId, asked, { verdict: 'allow' });
    await terminal.sees('The second is done.');
    expect(existsSync(join(bridge.project, 'allowed'))).toBe(true);

    await terminal.prompt('make the third');
    await bridge.answerNext(taskId, { verdict: 'deny', message: 'Not today.' });
    await terminal.sees('Not today.');
    expect(existsSync(join(bridge.project, 'refused'))).toBe(false);
    await terminal.sees('The third is done.');

    await terminal.prompt('make the fourth');
    const raced = await bridge.decision(taskId);
    await terminal.sees(ASKS);
    const closed = ['withdrawn terminal', 'allow caller', 'deny caller', 'withdrawn terminal'];
    await terminal.press('1', expect.poll(answers(bridge, taskId)).toEqual(closed));
    expect(await terminal.text()).not.toContain('The fourth is done.');
    const late = { task_id: taskId, decision_id: raced.decision_id, verdict: 'deny' };
    expect(await bridge.refusal('respond_to_task', late)).toContain('DECISION_CLOSED');
    await terminal.sees('The fourth is done.');

    expect((await bridge.record(taskId)).agent).not.toBeNull();
    for (const [tool, args] of [
      ['kill_task', {}],
      ['message_task', { text: 'Stop.' }],
      ['get_task_output', { view: 'screen' }],
    ] as const)
      expect(await bridge.refusal(tool, { task_id: taskId, ...args })).toContain('NATIVE_SESSION');
    await terminal.leave();
    const end = await bridge.end(taskId);
    expect(end.status).toBe('completed');
    expect(end.reason).toContain('as it does when the session ends');
  });

  test('goes on at once when the bridge is killed, which its record says', async () => {
    const script = [runs('touch still'), says('All is done.')];
    const { bridge, terminal } = await sessionWithPlugin({ claude: binary, script });
    expect(await bridge.call('list_tasks')).toMatchObject({ tasks: [] });
    await terminal.prompt('make it');
    await terminal.sees(ASKS);
    const taskId = await onlySession(bridge);
    await bridge.killKeeper(taskId);
    await terminal.press('1', terminal.sees('All is done.'));
    expect(existsSync(join(bridge.project, 'still'))).toBe(true);
    const end = await bridge.end(taskId);
    expect(end.status).toBe('error');
    expect(end.reason).toContain('the session is its person’s');
    await terminal.leave();
  });

  test('is not held up by a bridge that hangs', async () => {
    const script = [
      asks('Which colour?', ['Red', 'Blue']),
      says('Blue it is.'),
      runs('touch while-hung'),
      says('All is done.'),
    ];
    const { bridge, terminal } = await sessionWithPlugin({ claude: binary, script });
    await terminal.prompt('ask me');
    await terminal.sees('Which colour?');
    const taskId = await onlySession(bridge);
    await bridge.until(taskId, ({ reason }) => reason.includes('Which colour?'));
    await terminal.press('2', terminal.sees('Blue it is.'));

    const { keeper } = await bridge.record(taskId);
    process.kill(realPid(keeper?.pid), 'SIGSTOP');
    await terminal.prompt('make it');
    await terminal.sees(ASKS);
    await terminal.press('1', terminal.sees('All is done.'));
    process.kill(realPid(keeper?.pid), 'SIGCONT');
    await terminal.leave();
    await bridge.end(taskId);
  });

  test('is no session of a task: there the plugin does nothing', async () => {
    const workplace = await createWorkplace();
    const env = { PATH: await pathWithCommand(workplace) };
    const script = [runs('touch asked-once'), says('It is made.')];
    const bridge = await startBridge({ claude: binary, workplace, env, script });
    await (await personalClaude(bridge, binary)).install();
    const asked = { prompt: 'Make it.', path: bridge.project, permission_mode: 'cautious' };
    const taskId = await bridge.start(asked);
    await bridge.answerNext(taskId, { verdict: 'allow' });
    expect(await bridge.end(taskId)).toMatchObject({ status: 'completed', last_output: 'It is made.' });
    expect(await bridge.call('list_tasks')).toMatchObject({ tasks: [{ task_id: taskId }] });
  });

  test('needs a plugin that is valid, and leaves nothing of it in the settings', async () => {
    const bridge = await startBridge({ claude: binary, userSettings: { model: 'opus' } });
    const claude = await personalClaude(bridge, binary);
    const bytes = (): Promise<string> =>
      readFile(join(bridge.workplace.homeDir, '.claude', 'settings.json'), 'utf8');
    const settings = async (): Promise<unknown> => JSON.parse(await bytes());
    expect(
      await claude.run('plugin', 'validate', '--strict', '--profile', 'directory', pluginFolder),
    ).toContain('Validation passed');
    await claude.install();
    expect(await settings()).toMatchObject({
      enabledPlugins: { 'code-bridge@claude-code-bridge-plugins': true },
    });
    await claude.uninstall();
    // Claude Code leaves the keys that it made.
    expect(await settings()).toEqual({ model: 'opus', enabledPlugins: {}, extraKnownMarketplaces: {} });
    const before = await bytes();
    await claude.install();
    expect(await bytes()).not.toBe(before);
    await claude.uninstall();
    expect(await bytes()).toBe(before);
  });
});
