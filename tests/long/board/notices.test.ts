import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { asksAboutPrompts, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();
const asked = { MCP_RULES: JSON.stringify(asksAboutPrompts) };

/** Notices of the browser are not to be seen from a test: the page gets a stand-in that writes them down. */
async function recordNotices(page: Page): Promise<void> {
  await page.addInitScript(`
    window.notices = [];
    window.Notification = class {
      static permission = sessionStorage.getItem('may') ?? 'default';
      static async requestPermission() {
        sessionStorage.setItem('may', 'granted');
        return (this.permission = 'granted');
      }
      constructor(title, options) { Object.assign(this, options, { title, isOpen: true }); window.notices.push(this); }
      close() { this.isOpen = false; }
    };
    Object.defineProperty(document, 'hidden', { get: () => window.isAway === true });
  `);
  await page.reload();
}

const notices = (page: Page) => page.evaluate<{ title: string; body: string; isOpen: boolean }[]>('notices');

it('shows a notice for a question while the page is out of sight, once the person has asked for them', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, env: asked });
  const page = await boardPage(bridge, await browser());
  await page.getByText('No tasks yet.').waitFor();
  await recordNotices(page);
  await page.getByRole('button', { name: 'Notify me' }).click();
  await page.getByRole('button', { name: 'Notify me' }).waitFor({ state: 'detached' });

  const seen = await bridge.start({ prompt: 'AGENT: split-prompt', path: bridge.project });
  await page.getByRole('article').waitFor();
  expect(await notices(page)).toEqual([]);
  await page.getByRole('button', { name: 'Allow once' }).click();
  await bridge.end(seen);

  await page.evaluate('window.isAway = true');
  const taskId = await bridge.start({ prompt: 'AGENT: split-prompt', path: bridge.project });
  await page.getByRole('article').waitFor();
  expect(await notices(page)).toMatchObject([{ title: 'Claude Code asks in app', isOpen: true }]);
  await page.evaluate('notices[0].onclick()');
  await page.getByRole('tablist').waitFor();
  expect(page.url()).toContain(taskId);
  const { decision_id } = await bridge.decision(taskId);
  await bridge.call('respond_to_task', { task_id: taskId, decision_id, verdict: 'allow' });
  await bridge.end(taskId);
});
