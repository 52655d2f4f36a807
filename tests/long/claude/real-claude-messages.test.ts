import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { describeNewestClaude, describeRealClaude } from '../../harness/real-claude.js';
import { asks, runs, says, thinksForEver } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

describeRealClaude('what is said to the real CLI', ({ binary }) => {
  it('an interrupt reports the command that ran, with the words of the agent alone', async () => {
    const command = 'for i in 1 2 3; do echo line-$i; done; touch printed; tail -f /dev/null';
    const second = 'touch second; tail -f /dev/null';
    const bridge = await startBridge({
      claude: binary,
      // The last command may end a moment before the session does, and the model is asked again.
      script: [runs(command, 'Long one.'), runs(second, 'After the interrupt.'), thinksForEver],
    });
    const id = await bridge.start({ keep_open: true });
    await bridge.untilHas('printed');
    await bridge.until(id, (view) => view.activity.includes('line-'));
    await bridge.call('message_task', { task_id: id, interrupt: true });
    const waiting = await bridge.until(id, (view) => view.status === 'waiting');
    expect(waiting).toMatchObject({
      last_output: 'Long one.',
      reason: 'The turn was interrupted; the session waits for a message.',
    });
    await bridge.call('message_task', { task_id: id, text: 'Go on.' });
    await bridge.untilHas('second');
    await bridge.call('kill_task', { task_id: id });
    const { text } = await bridge.output(id, 'log');
    expect(text).toContain(`✗ Bash(${command}): interrupted\n`);
    expect(await bridge.call('get_task_result', { task_id: id })).toMatchObject({
      receipt: {
        final_message: '',
        commands: [
          { exit_code: null, note: 'interrupted', output: '' },
          // The signals reach the command and the CLI together: the CLI may live to report its end.
          expect.toBeOneOf([
            expect.objectContaining({ note: 'it was ended with the session' }),
            expect.objectContaining({ command: second, exit_code: expect.any(Number) }),
          ]),
        ],
      },
    });
  });

  it('the same answer twice is twice in the log, and is not shown while the second turn runs', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [says('Done.'), { ...says('Done.'), delayMs: 1_500 }],
    });
    const id = await bridge.start({ keep_open: true });
    await bridge.until(id, (view) => view.status === 'waiting');
    await bridge.call('message_task', { task_id: id, text: 'Again.' });
    const running = await bridge.status(id);
    expect(running).toMatchObject({ status: 'running', activity: 'Working' });
    expect(running.last_output).not.toContain('Done.');
    await bridge.until(id, (view) => view.status === 'waiting');
    await bridge.call('kill_task', { task_id: id });
    const { text } = await bridge.output(id, 'log');
    expect(text.match(/Claude: Done\./g)).toHaveLength(2);
    expect(text).not.toMatch(/The session ended|needs your permission/);
  });

  it('a prompt that begins with a dash is a prompt, and a message to a running turn is the next turn', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [runs('touch first', 'First.'), says('First is done.'), says('Second is done.')],
    });
    const id = await bridge.start({ prompt: '--version', permission_mode: 'cautious' });
    const decision = await bridge.decision(id);
    await bridge.call('message_task', { task_id: id, text: 'Then the second.\nWith two lines.' });
    await bridge.respond(id, decision, { verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Second is done.' });
    expect(bridge.api.requests.some(({ userText }) => userText.includes('--version'))).toBe(true);
    expect(bridge.api.requests.at(-1)?.userText).toContain('Then the second.\nWith two lines.');
  });
});

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
