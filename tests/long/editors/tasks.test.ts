import type { FrameLocator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { sharedBrowser } from '../../harness/board-page.js';
import { discoveryOf } from '../../harness/board-process.js';
import { endProcess } from '../../harness/end-process.js';
import { describeWith } from '../../harness/needs.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { editorsOfForm, sharedTaskEditor } from '../../harness/task-editor.js';
import { runCommand } from '../../harness/vscode-server.js';

const browser = sharedBrowser();

/** The page inside the view: an iframe in an iframe. */
function viewOf(page: Page): FrameLocator {
  return page.frameLocator('iframe.webview').frameLocator('iframe');
}

describeWith('editors', 'the view in an editor', () => {
  describeNewestClaude('tasks in the editor', ({ binary }) =>
    describe.each(editorsOfForm())('VS Code $version', (installed) => {
      const { bridge, editor } = sharedTaskEditor(installed, browser, {
        claude: binary,
        projects: ['app', 'another-project-with-quite-a-long-name'],
        script: [
          runs('touch one.txt'),
          says('One is made.'),
          runs('touch two.txt'),
          says('Two is made.'),
          says('Three is made.'),
        ],
      });

      test('ask by a notification and in the status bar, and are answered there', async () => {
        const { page } = editor();
        const { project } = bridge();
        const id = await bridge().start({ prompt: 'Make one.', path: project, permission_mode: 'cautious' });
        const notice = page
          .locator('.notification-list-item')
          .filter({ hasText: 'asks to run touch one.txt' });
        await notice.waitFor();
        await page.getByRole('button', { name: /1 waiting/ }).waitFor();
        // Sooner it counts as a press that was meant for something else.
        await page.waitForTimeout(500);
        await notice.getByRole('button', { name: 'Allow Once' }).click();
        expect(await bridge().end(id)).toMatchObject({ status: 'completed' });
        const [answered] = await bridge().events(id, 'decision-closed');
        expect(answered).toMatchObject({ verdict: 'allow', answered_by: 'board/vscode-1' });
        await page.getByRole('button', { name: /1 waiting/ }).waitFor({ state: 'detached' });
      });

      test('are seen and answered in the view, which shows the same task again in a window that is loaded again', async () => {
        const { page } = editor();
        const { project } = bridge();
        const id = await bridge().start({ prompt: 'Make two.', path: project, permission_mode: 'cautious' });
        await page.getByRole('button', { name: /1 waiting/ }).click();
        const view = viewOf(page);
        const card = view.getByRole('article', { name: /asks for permission/ });
        await card.getByText('touch two.txt').first().waitFor();
        await view.getByRole('heading', { name: 'Make two.' }).waitFor();
        await runCommand(page, 'Developer: Reload Window');
        await card.waitFor({ state: 'detached' });
        await card.getByRole('button', { name: 'Allow once' }).click();
        expect(await bridge().end(id)).toMatchObject({ status: 'completed' });
        await view.locator('main.task').getByText('Two is made.').first().waitFor();
        await view.getByRole('button', { name: '← All tasks' }).click();
        await view.getByRole('link', { name: /completed Make one\./ }).click();
        await view.locator('main.task').getByText('One is made.').first().waitFor();
        await view.getByRole('button', { name: '← All tasks' }).click();
      });

      test('are seen in the view also when the board was started again, by its person and never by the window, and nothing of it is cut off', async () => {
        const { page } = editor();
        const { owner } = await discoveryOf(bridge());
        await endProcess(owner.pid);
        const start = viewOf(page).getByRole('button', { name: 'Start the board' });
        await start.waitFor();
        await runCommand(page, 'Developer: Reload Window');
        await start.waitFor({ state: 'detached' });
        await viewOf(page).getByText('No board runs.').waitFor();
        await expect(discoveryOf(bridge())).rejects.toThrow('ENOENT');
        await start.click();
        await start.waitFor({ state: 'detached' });
        expect((await discoveryOf(bridge())).owner.pid).not.toBe(owner.pid);
        const path = bridge().projects[1] ?? '';
        await bridge().end(await bridge().start({ prompt: 'Make three.', path }));
        const view = viewOf(page);
        await view.getByRole('link', { name: /completed Make three\./ }).waitFor();
        const cutOff = (body: HTMLElement | SVGElement): number =>
          body.scrollWidth - (body.ownerDocument.defaultView?.innerWidth ?? 0);
        expect(await view.locator('body').evaluate(cutOff)).toBeLessThanOrEqual(0);
      });
    }),
  );
});
