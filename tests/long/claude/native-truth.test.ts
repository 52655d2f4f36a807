import { expect, test } from 'vitest';
import { onlySession, personalClaude, sessionWithPlugin } from '../../harness/native-plugin.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

const WITH_SESSIONS = { MCP_TOOLSETS: 'tasks,native' };
describeNewestClaude('what the bridge says of a session that a person started', ({ binary }) => {
  test('stays right when it is compacted, resumed, and resumed while it is open elsewhere', async () => {
    const { bridge, claude, terminal } = await sessionWithPlugin({
      claude: binary,
      env: WITH_SESSIONS,
      script: ({ kind, userText, toolResults }) => {
        if (kind !== 'turn') return says('{"title":"A session"}');
        if (toolResults.length > 0) return says('It is made.');
        const made = /make (\w+)/.exec(userText)?.[1];
        if (made !== undefined) return runs(`touch ${made}`);
        return says(userText.includes('summary') ? '<summary>Nothing yet.</summary>' : 'Hello.');
      },
    });
    await terminal.prompt('hello');
    await terminal.sees('Hello.');
    const id = await onlySession(bridge);
    await bridge.until(id, ({ reason }) => reason.includes('waits for a message'));
    await terminal.prompt('/compact');
    await terminal.sees(/Compacted|compacted/);
    await bridge.until(id, ({ reason }) => reason.includes('waits for a message'));
    await terminal.prompt('make one');
    await bridge.answerNext(id, { verdict: 'allow' });
    await terminal.sees('It is made.');
    const session = (await bridge.record(id)).session_id ?? '';
    const shown = await bridge.command(['native', 'show', id, '--json']);
    expect(JSON.parse(shown.out)).toMatchObject({ session_id: session });

    // The same session in another terminal, while the first one is open.
    const other = await claude.open('--resume', session);
    await other.prompt('make two');
    const otherId = await until('there are two sessions', async () => {
      const [one, ...others] = (await bridge.ids({ status: 'active' })).filter((each) => each !== id);
      return others.length === 0 && (one ?? false);
    });
    expect(await bridge.decision(otherId)).toMatchObject({ summary: 'Bash(touch two)' });
    expect((await bridge.status(id)).decisions).toEqual([]);
    await bridge.answerNext(otherId, { verdict: 'allow' });
    // What was said before stands on its screen, too.
    await bridge.until(otherId, ({ reason }) => reason.includes('waits for a message'));
    await terminal.leave();
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect((await bridge.status(otherId)).status).not.toBe('completed');
    await other.leave();
    expect(await bridge.end(otherId)).toMatchObject({ status: 'completed' });

    const again = await claude.open('--resume', session);
    await again.prompt('make three');
    const third = await onlySession(bridge);
    expect([id, otherId]).not.toContain(third);
    await bridge.answerNext(third, { verdict: 'deny', message: 'Two are enough.' });
    await bridge.until(third, ({ reason }) => reason.includes('waits for a message'));
    await again.leave();
    await bridge.end(third);
    expect(['one', 'two', 'three'].filter(bridge.has)).toEqual(['one', 'two']);
  });
});

describeNewestClaude('sessions that a person started', ({ binary }) => {
  test('are none of programs: claude -p is refused at once what it may not do', async () => {
    const script = [runs('touch by-program'), says('It was not allowed.')];
    const bridge = await startBridge({ claude: binary, env: WITH_SESSIONS, script });
    const claude = await personalClaude(bridge, binary);
    await claude.install();
    const said = await claude.run('-p', '--permission-mode', 'default', 'make it');
    expect(said).toContain('It was not allowed.');
    expect(bridge.has('by-program')).toBe(false);
    expect(await bridge.ids()).toEqual([]);
  });

  test('are continued in a session of a task', async () => {
    const script = [says('Remember: the word is plum.'), runs('touch next'), says('It is next.')];
    const { bridge, terminal } = await sessionWithPlugin({ claude: binary, env: WITH_SESSIONS, script });
    await terminal.prompt('tell me the word');
    const id = await onlySession(bridge);
    await terminal.sees('plum');
    const idle = await bridge.until(id, ({ reason }) => reason.includes('the session waits for a message'));
    expect(idle).toMatchObject({ last_output: 'Remember: the word is plum.' });
    expect(await bridge.call('list_tasks')).toMatchObject({
      tasks: [{ task_id: id, prompt_summary: 'tell me the word' }],
    });

    const next = await bridge.start({ prompt: 'Go on.', continue_from: id });
    expect(await bridge.end(next)).toMatchObject({ status: 'completed', last_output: 'It is next.' });
    // What was said in the session came first.
    expect(
      bridge.api.requests.find(({ userText }) => userText.includes('Go on.'))?.messageCount,
    ).toBeGreaterThan(2);
    await terminal.leave();
    await bridge.end(id);
  });
});
