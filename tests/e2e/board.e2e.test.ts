import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../harness/board-page.js';
import { asksAboutPrompts, scriptedAgent } from '../harness/scripted-agent.js';
import { startBridge } from '../harness/start-bridge.js';

const browser = sharedBrowser();
const asked = { MCP_RULES: JSON.stringify(asksAboutPrompts) };

it('shows a task as it starts, what it asks, and takes the answer', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, env: asked });
  const page = await boardPage(bridge, await browser());
  await page.getByText('No tasks yet.').waitFor();
  const taskId = await bridge.start({ prompt: 'AGENT: split-prompt', path: bridge.project });
  await page.getByRole('article').waitFor();
  await expect.poll(() => page.title()).toBe('(1) Claude Code Bridge');
  await page.getByRole('button', { name: 'Allow once' }).click();
  await page.getByRole('article').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: /AGENT: split-prompt/ }).click();
  await page.getByText('allowed: Do you want to proceed? [y/N], by board/chrome-1').waitFor();
  await page.getByText('completed: The agent exited with code 0.').waitFor();
  await expect.poll(() => page.title()).toBe('Claude Code Bridge');
  expect(await bridge.status(taskId)).toMatchObject({ status: 'completed' });
});
