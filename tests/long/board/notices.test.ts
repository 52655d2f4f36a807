import { basename } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ownProject, ownTask } from '../../browser/own-tasks.js';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { asksEnv, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

describeWith('browser', 'the board', () => {
  const browser = sharedBrowser();

  test('a question is a notice while the page is out of sight, once the person has asked for them', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, env: asksEnv });
    const page = await boardPage(bridge, await browser());
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await recordNotices(page);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Notify me' }).waitFor({ state: 'detached' });

    const seen = await ownTask(bridge, 'AGENT: split-prompt');
    await page.getByRole('article').waitFor();
    expect(await notices(page)).toEqual([]);
    await page.getByRole('button', { name: 'Allow once' }).click();
    await bridge.end(seen);

    await page.evaluate('window.isAway = true');
    const path = await ownProject(bridge);
    const taskId = await ownTask(bridge, 'AGENT: split-prompt', path);
    await page.getByRole('article').waitFor();
    expect(await notices(page)).toMatchObject([
      { title: `Claude Code asks in ${basename(path)}`, isOpen: true },
    ]);
    await page.evaluate('notices[0].onclick()');
    await page.getByRole('main').getByRole('tablist').waitFor();
    expect(page.url()).toContain(taskId);
    expect(await notices(page)).toMatchObject([{ isOpen: false }]);
  });
});

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

function notices(page: Page): Promise<{ title: string; body: string; isOpen: boolean }[]> {
  return page.evaluate('notices');
}
