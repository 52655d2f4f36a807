import { expect, test } from 'vitest';
import { onlySession, sessionWithPlugin } from '../../harness/native-plugin.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { says } from '../../harness/scripted-turns.js';
import type { TestBridge } from '../../harness/start-bridge.js';

const FROM = 'A client of claude-code-bridge sent this message (message_task)';

/** What the model read last. */
function read(bridge: TestBridge): string {
  return bridge.api.requests.filter(({ kind }) => kind === 'turn').at(-1)?.userText ?? '';
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
