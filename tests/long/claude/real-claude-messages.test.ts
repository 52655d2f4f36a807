import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { asks, runs, says, thinksForEver } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

describeNewestClaude('what is said to a session of the newest CLI', ({ binary }) => {
  it.each([
    ['a question', asks('Which?', ['This', 'That'])],
    ['a command', runs('touch asked')],
  ])(
    'an interrupt while %s is open: nothing runs after it, and the message that waits is sent',
    async (_, first) => {
      const bridge = await startBridge({
        claude: binary,
        script: [first, says('As you say.'), runs('touch went-on')],
      });
      const id = await bridge.start({ permission_mode: 'cautious', keep_open: true });
      await bridge.decision(id);
      await bridge.call('message_task', { task_id: id, text: 'Do this.' });
      await bridge.call('message_task', { task_id: id, interrupt: true });
      await bridge.until(id, (view) => view.status === 'waiting' && view.last_output === 'As you say.');
      expect(bridge.api.turnsServed).toBe(2);
      expect(bridge.api.requests.at(-1)?.userText).toContain('Do this.');
      const { text } = await bridge.output(id, 'log');
      expect(text).toMatch(/The turn was interrupted\n.*Interrupted by .*\n.*Message: Do this\./);
      expect(text).not.toMatch(/not delivered|unknown dialog/);
      expect(bridge.has('asked')).toBe(false);
      await bridge.call('kill_task', { task_id: id });
    },
  );

  it('over the print driver an interrupt with a message goes on with it, and a kill ends the session', async () => {
    const script = [thinksForEver, says('Yes?'), thinksForEver];
    const bridge = await startBridge({ claude: binary, script });
    const id = await bridge.start({ driver: 'print', keep_open: true });
    await until('it thinks', () => bridge.api.turnsServed === 1);
    await bridge.call('message_task', { task_id: id, interrupt: true, text: 'Hello?' });
    await bridge.until(id, (view) => view.status === 'waiting');
    await bridge.call('message_task', { task_id: id, text: 'Think again.' });
    await until('it thinks again', () => bridge.api.turnsServed === 3);
    expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
  });

  it('a session with keep_open takes one message after the other, each exactly, whatever the input box makes of it, until it is killed', async () => {
    const messages = ['!touch pwned', '@src', 'back\\', 'all:\n\tcc', 'w '.repeat(2_000)];
    const script = ['Ready.', ...messages.map((_, at) => `Number ${at + 1}.`)].map(says);
    const bridge = await startBridge({ claude: binary, script });
    const id = await bridge.start({ prompt: 'Count.', keep_open: true });
    for (const [at, text] of messages.entries()) {
      await bridge.until(id, (view) => view.status === 'waiting' && view.activity.startsWith('Ready'));
      await bridge.call('message_task', { task_id: id, text });
      await bridge.until(id, (view) => view.status === 'waiting' && view.last_output === `Number ${at + 1}.`);
      const last = bridge.api.requests.findLast(({ kind }) => kind === 'turn');
      expect(`${last?.userText}${last?.addedText}`).toContain(text.trim());
    }
    expect(JSON.parse(await bridge.mcp.readResource(`tasks://${id}`))).toMatchObject({
      turns: messages.length + 1,
      final_message: 'Number 5.',
    });
    expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    expect(await bridge.refusal('message_task', { task_id: id, text: 'Still there?' })).toMatch(
      /^TASK_NOT_RUNNING: /,
    );
    expect(await readdir(bridge.project)).toEqual(['.claude']);
  });

  it('a message that ends Claude Code is named in the reason', async () => {
    const bridge = await startBridge({ claude: binary, script: [says('Which name, exit or quit?')] });
    const id = await bridge.start({ prompt: 'Ask.', keep_open: true });
    await bridge.until(id, (view) => view.status === 'waiting');
    await bridge.refusal('message_task', { task_id: id, text: 'quit' });
    expect(await bridge.end(id)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('took "quit" for a word of its own'),
      last_output: 'Which name, exit or quit?',
    });
    const other = await bridge.start({ prompt: 'exit' });
    expect(await bridge.end(other)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('before its turn began'),
    });
  });

  it('a prompt is never read as anything else, and one of nearly 1 MB arrives whole', async () => {
    const prompt = [
      'Say:',
      '--dangerously-skip-permissions',
      '-p "$(touch pwned)" `touch pwned`; touch pwned\n\'quotes\' "and" \\ $HOME ☃ é',
      '/exit',
      '# not a heading\n! touch pwned',
      'lorem ipsum é☃ '.repeat(55_000),
      'the end',
    ].join('\n');
    const bridge = await startBridge({ claude: binary, script: [says('Read.')] });
    const id = await bridge.start({ prompt });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Read.' });
    expect(bridge.api.requests.some(({ userText }) => userText.includes(prompt))).toBe(true);
    expect(await readdir(bridge.project)).toEqual(['.claude']);
  });
});
