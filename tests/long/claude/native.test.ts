import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  onlySession,
  pathWithCommand,
  personalClaude,
  sessionWithPlugin,
} from '../../harness/native-plugin.js';
import { describeNewestClaude, describeRealClaude } from '../../harness/real-claude.js';
import { realPid } from '../../harness/real-pid.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

const pluginFolder = join(import.meta.dirname, '../../../plugins/code-bridge');
const ASKS = 'Do you want to proceed?';

describeRealClaude('a session that a person started, with the plugin', ({ binary }) => {
  test('goes on at once when the bridge is killed, which its record says', async () => {
    const script = [runs('touch still'), says('All is done.')];
    const { bridge, terminal } = await sessionWithPlugin({ claude: binary, script });
    expect(await bridge.ids()).toEqual([]);
    await terminal.prompt('make it');
    await terminal.sees(ASKS);
    const taskId = await onlySession(bridge);
    await bridge.killKeeper(taskId);
    await terminal.press('1', terminal.sees('All is done.'));
    expect(bridge.has('still')).toBe(true);
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
    const taskId = await bridge.start({ permission_mode: 'cautious' });
    await bridge.answerNext(taskId, { verdict: 'allow' });
    expect(await bridge.end(taskId)).toMatchObject({ status: 'completed', last_output: 'It is made.' });
    expect(await bridge.ids()).toEqual([taskId]);
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

const FROM = 'A client of claude-code-bridge sent this message (message_task)';

/** What the model read last. */
function read({ api }: TestBridge): string {
  return api.requests.findLast(({ kind }) => kind === 'turn')?.userText ?? '';
}

describeNewestClaude('a session that a person started, with native_messages', ({ binary }) => {
  test('takes one message at the end of its turn, and one while it is idle, each once', async () => {
    const script = [
      // The message must come within it, also on a busy machine.
      { ...says('The first is done.'), delayMs: 8_000 },
      { ...says('The second is done.'), delayMs: 1_000 },
      { ...says('The third is done.'), delayMs: 1_000 },
      says('The fourth is done.'),
    ];
    const env = { MCP_NATIVE_MESSAGES: 'true' };
    const { bridge, terminal } = await sessionWithPlugin({ claude: binary, script, env });
    await terminal.prompt('make the first');
    const taskId = await onlySession(bridge);
    const during = await bridge.call('message_task', { task_id: taskId, text: 'Now the second.' });
    expect(during).toMatchObject({ status: 'running' });
    await terminal.sees('The second is done.');
    expect(read(bridge)).toContain(`Stop hook feedback:\n${FROM}`);
    expect(read(bridge)).toContain('Now the second.');

    await bridge.until(taskId, ({ status }) => status === 'waiting');
    const after = await bridge.call('message_task', { task_id: taskId, text: 'Now the "third".' });
    expect(after).toMatchObject({ status: 'running' });
    await terminal.sees('The third is done.');
    expect(read(bridge)).toContain(`Another Claude session sent a message:\n${FROM}`);
    expect(read(bridge)).toContain('Now the "third".');
    await bridge.until(taskId, ({ status }) => status === 'waiting');

    const sent = [{ text: 'Now the second.' }, { text: 'Now the "third".' }];
    expect(await bridge.events(taskId, 'message')).toMatchObject(sent);
    expect(await bridge.refusal('message_task', { task_id: taskId, interrupt: true })).toContain(
      'NATIVE_SESSION',
    );
    // A process of the session has its id.
    const { session_id } = await bridge.record(taskId);
    const inside = await bridge.another('modern', { env: { CLAUDE_CODE_SESSION_ID: session_id ?? '' } });
    expect(await inside.refusal('message_task', { task_id: taskId, text: 'Go on.' })).toContain(
      'nor sends itself messages',
    );
    await terminal.leave();
    await bridge.end(taskId);
    expect(bridge.api.turnsServed).toBe(3);
  });
});
