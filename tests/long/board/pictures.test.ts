import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { boardPage, overflowOf, sharedBrowser } from '../../harness/board-page.js';
import { ChatPage } from '../../harness/chat-page.js';
import { describeWith } from '../../harness/needs.js';
import { writeFiles } from '../../harness/project-files.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { openTask } from '../../browser/own-tasks.js';

const browser = sharedBrowser();
const docs = fileURLToPath(new URL('../../../docs', import.meta.url));

/** The picture of a view; `npm run board-pictures` puts it into docs/. */
async function picture(page: Pick<Page | Locator, 'screenshot'>, name: string): Promise<Buffer> {
  const path = process.env['BOARD_PICTURES'] === '1' ? { path: join(docs, `${name}.png`) } : {};
  return page.screenshot({ ...path, animations: 'disabled' });
}

describeWith('browser', 'pictures of the board', () => {
  describeNewestClaude('with Claude Code', ({ binary }) => {
    it('each view fits a desktop and a phone, in both themes', async () => {
      const bridge = await startBridge({
        claude: binary,
        projects: ['shop-math', 'تجربة', 'long-name-of-a-project-that-goes-on'],
        script: [
          says('The loop skipped the first number. Both tests pass now.'),
          runs('node test.js', 'I run the tests first.'),
          runs('npm run build && git push origin main', 'Now I publish.'),
          says('Published.'),
        ],
      });
      const [shop = '', arabic = ''] = bridge.projects;
      const first = await bridge.start({ prompt: 'أصلح الاختبار ثم انشره.', path: arabic });
      await expect.poll(async () => (await bridge.status(first)).status).toBe('completed');
      const taskId = await bridge.start({
        prompt: 'Run the tests, then publish the package.',
        path: shop,
        permission_mode: 'cautious',
      });
      const page = await boardPage(bridge, await browser());
      await page.setViewportSize({ width: 1000, height: 620 });
      await page.getByRole('article').waitFor();
      await expect.poll(() => page.getByRole('button', { name: 'Allow once' }).isEnabled()).toBe(true);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        const overview = await picture(page, 'board-overview');
        expect(overview.length).toBeGreaterThan(10_000);
      }
      await page
        .getByRole('link', { name: /Run the tests/ })
        .first()
        .click();
      // The list that the page leaves may still show the same words.
      const timeline = page.getByRole('tabpanel', { name: 'Timeline' });
      await timeline.getByText('I run the tests first.').waitFor();
      await page.getByRole('button', { name: 'Allow once' }).click();
      await timeline.getByText('Now I publish.').waitFor();
      await expect.poll(() => page.getByRole('button', { name: 'Allow once' }).isEnabled()).toBe(true);
      await picture(page, 'board-task');
      await page.setViewportSize({ width: 360, height: 700 });
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      await page.getByRole('button', { name: '← All tasks' }).click();
      await page.getByRole('article').waitFor();
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      await bridge.call('kill_task', { task_id: taskId });
    });

    it('a task with a check that is not met is shown in docs/checks.md', async () => {
      const bridge = await startBridge({
        claude: binary,
        projects: ['shop-math'],
        script: [
          runs("printf 'export const total = 0;\\n' > total.js", 'I mend the sum.'),
          says('The discount is applied once. All tests pass.'),
        ],
      });
      const lint = "echo 'total.js:1:14  error  total is never used'; exit 1";
      await writeFiles(bridge.project, {
        'package.json': JSON.stringify({ scripts: { test: 'true', lint } }),
      });
      const taskId = await bridge.start({
        prompt: 'Discount is applied twice',
        brief: { goal: 'One discount for each order', decided: ['No new dependency'] },
        checks: [
          { name: 'unit', command: 'npm --silent test' },
          { name: 'lint', command: 'npm --silent run lint' },
        ],
      });
      await bridge.end(taskId);
      const page = await boardPage(bridge, await browser());
      await page.setViewportSize({ width: 1000, height: 620 });
      const task = await openTask(page, taskId);
      await task.getByText('1 of 2 checks met').first().waitFor();
      await task.getByText('The end of its output').click();
      // Where it is in a usual installation; the folder of a test says nothing to a reader.
      const usual = `~/.local/state/claude-code-bridge/tasks/${taskId}/checks/2.txt`;
      await page.evaluate(`document.querySelector('.checked p code').textContent = '${usual}'`);
      await page.mouse.move(0, 0);
      await picture(page, 'checks');
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    });

    it('the board in a chat fits a narrow and a wide one, in both themes', async () => {
      const bridge = await startBridge({
        claude: binary,
        projects: ['shop-math'],
        script: [runs('npm run build && git push origin main', 'Now I publish.'), says('Published.')],
      });
      const taskId = await bridge.start({
        prompt: 'Run the tests, then publish the package.',
        permission_mode: 'cautious',
      });
      await bridge.decision(taskId);
      const chat = await ChatPage.open(bridge, await browser());
      for (const uri of ['ui://claude-code-bridge/board.html', 'ui://claude-code-bridge/decision.html']) {
        await chat.show(uri, { context: { theme: 'dark' } });
        await chat.does('input', { task_ids: [taskId] });
        await expect.poll(() => chat.app.getByRole('button', { name: 'Allow once' }).isEnabled()).toBe(true);
        for (const [width, theme] of [
          [360, 'dark'],
          [760, 'light'],
        ] as const) {
          await chat.page.setViewportSize({ width, height: 480 });
          await chat.does('context', { theme });
          await chat.app.locator(`html[data-theme=${theme}]`).waitFor();
          expect(await overflowOf(chat.frame)).toBeLessThanOrEqual(0);
        }
        if (uri.endsWith('decision.html')) await picture(chat.page.locator('iframe'), 'board-chat');
      }
      await bridge.call('kill_task', { task_id: taskId });
    });
  });
});
