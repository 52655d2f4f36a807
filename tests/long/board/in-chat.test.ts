import { expect, test } from 'vitest';
import { sharedBrowser } from '../../harness/board-page.js';
import { ChatPage } from '../../harness/chat-page.js';
import { describeWith } from '../../harness/needs.js';
import { asksAboutPrompts, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

async function reads(chat: ChatPage): Promise<number> {
  return (await chat.seen()).calls.filter(({ name }) => name === 'board_read').length;
}

describeWith('browser', 'in a chat', () => {
  const browser = sharedBrowser();

  test('the board greets its client and shows each question; the card of a call shows its own, takes the answer while the model waits, tells it, and reads no more', async () => {
    const bridge = await startBridge({
      claude: scriptedAgent,
      env: { MCP_RULES: JSON.stringify(asksAboutPrompts) },
      projects: ['one', 'two'],
    });
    const [one = '', two = ''] = bridge.projects;
    const chat = await ChatPage.open(bridge, await browser());
    await chat.connect();
    const board = await chat.show('ui://claude-code-bridge/board.html');
    expect(board).toMatchObject({ name: 'claude-code-bridge-board' });
    await chat.app.getByText('No tasks yet.').waitFor();
    const taskId = await bridge.start({ prompt: 'AGENT: split-prompt', path: one });
    const other = await bridge.start({ prompt: 'AGENT: split-prompt again', path: two });
    await chat.app.getByRole('article').nth(1).waitFor();

    await bridge.decision(taskId);
    const { cursor } = await bridge.call('wait_for_task', { task_ids: [taskId] });
    await chat.show('ui://claude-code-bridge/decision.html');
    const args = { task_ids: [taskId], cursor };
    const waited = chat.call('wait_for_task', args);
    await chat.input(args);
    await chat.app.getByRole('article').waitFor();
    expect(await chat.app.getByRole('article').count()).toBe(1);
    await chat.app.getByRole('button', { name: 'Allow once' }).click();
    await chat.app.getByText('Do you want to proceed? [y/N]: You allowed it.').waitFor();
    // The answer woke the model.
    const result = await waited;
    expect(JSON.stringify(result)).toContain('"changed":true');
    await chat.result(result);
    const { told, calls } = await chat.seen();
    expect(told).toEqual([
      expect.stringContaining(`They allowed, once, dec_1 ("Do you want to proceed? [y/N]") of ${taskId}`),
    ]);
    expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(['board_read', 'board_act']));
    expect(await bridge.end(taskId)).toMatchObject({ status: 'completed' });
    const byChat = { verdict: 'allow', answered_by: 'board/chat-chat-for-tests' };
    expect(await bridge.events(taskId, 'decision-closed')).toMatchObject([byChat]);
    const before = await reads(chat);
    await bridge.call('kill_task', { task_id: other });
    expect(await reads(chat)).toBe(before);
  });
});
