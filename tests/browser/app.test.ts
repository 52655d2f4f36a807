import { expect, it } from 'vitest';
import { ChatPage } from '../harness/chat-page.js';
import { sharedBrowser } from '../harness/board-page.js';
import { asksAboutPrompts, scriptedAgent } from '../harness/scripted-agent.js';
import { startBridge } from '../harness/start-bridge.js';

const browser = sharedBrowser();
const asked = { MCP_RULES: JSON.stringify(asksAboutPrompts) };
const BOARD = 'ui://claude-code-bridge/board.html';

it('the board in the chat shows a task as it starts, takes the answer, and tells the model', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, env: asked });
  const chat = await ChatPage.open(bridge, await browser());
  await chat.connect();
  expect(await chat.show(BOARD)).toMatchObject({ name: 'claude-code-bridge-board' });
  await chat.app.getByText('No tasks yet.').waitFor();
  const taskId = await bridge.start({ prompt: 'AGENT: split-prompt', path: bridge.project });
  await chat.app.getByRole('button', { name: 'Allow once' }).click();
  await chat.app.getByRole('article').waitFor({ state: 'detached' });
  await chat.app.getByRole('link', { name: /AGENT: split-prompt/ }).click();
  await chat.app.getByText('allowed: Do you want to proceed? [y/N], by board/chat-chat-for-tests').waitFor();
  const { told, calls } = await chat.seen();
  expect(told).toHaveLength(1);
  expect(told[0]).toContain(`They allowed, once, dec_1 ("Do you want to proceed? [y/N]") of ${taskId}`);
  expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(['board_read', 'board_act']));
});
