import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { source } from 'axe-core';
import { boardPage, overflowOf, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { gitIn } from '../../harness/project-files.js';
import { asksEnv, program } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { openTask, rowOf } from '../../browser/own-tasks.js';

/** Changes a file, asks, and ends. */
const ASKS =
  "echo 'let total = 0;' > sum.js; echo WRITTEN; printf 'Do you want to proceed? [y/N] '; read -r _ </dev/tty";

/** What each view shows when it is there. */
const views = {
  Changes: 'let total = 0;',
  Terminal: 'You only watch.',
  Replay: 'The task runs: the recording grows.',
  Receipt: 'It is made when the task ends.',
  Log: 'WRITTEN',
  Prompt: 'Sum it up.',
};

/** As `barriers` of the harness, a tenth of its time: axe is in the page already. */
const LOOK = `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ passes, violations }) =>
  passes.length === 0 ? ['nothing was looked at'] : violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;

/** Nothing stands in the way of an eye or a screen reader, in both themes, and nothing is wider than the window. */
async function expectNoBarriers(page: Page, view: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await page.evaluate(LOOK), `${view}, ${colorScheme}`).toEqual([]);
  }
  expect(await overflowOf(page), view).toBeLessThanOrEqual(0);
}

describeWith('browser', 'the main pages', () => {
  const browser = sharedBrowser();

  test('have no barriers in either theme, on a desktop and on a phone, and their views are reached by keys', async () => {
    const bridge = await startBridge({ claude: program('asks', ASKS), env: asksEnv });
    gitIn(bridge.project, 'init', '-q');
    gitIn(bridge.project, 'commit', '-q', '--allow-empty', '-m', 'first');
    const taskId = await bridge.start({ prompt: 'Sum it up.' });
    const page = await boardPage(bridge, await browser());
    await page.evaluate(source);
    const allow = page.getByRole('article').getByRole('button', { name: 'Allow once', disabled: false });
    await allow.waitFor();
    await expectNoBarriers(page, 'the list');
    await page.keyboard.press('n');
    await page.getByLabel('Prompt').waitFor();
    await expectNoBarriers(page, 'a new task');
    await page.getByRole('button', { name: 'Cancel' }).click();
    const task = await openTask(page, taskId);
    await allow.waitFor();
    await expectNoBarriers(page, 'Timeline');
    await task.getByRole('tab', { name: 'Timeline' }).focus();
    for (const [view, words] of Object.entries(views)) {
      await page.keyboard.press('ArrowRight');
      await task.getByRole('tabpanel', { name: view }).getByText(words).first().waitFor();
      // The colors of a language come a moment after its words.
      if (view === 'Changes') await task.locator('.code .in-keyword').first().waitFor();
      await expectNoBarriers(page, view);
    }
    await page.setViewportSize({ width: 360, height: 700 });
    await expectNoBarriers(page, 'a task on a phone');
    await allow.click();
    await task.getByRole('button', { name: '← All tasks' }).click();
    await rowOf(page, taskId).getByText('completed', { exact: true }).waitFor();
    await expectNoBarriers(page, 'the list on a phone');
    const ended = await openTask(page, taskId);
    await ended.getByRole('tab', { name: 'Receipt' }).click();
    await ended.getByRole('tabpanel', { name: 'Receipt' }).getByText('sum.js').first().waitFor();
    await expectNoBarriers(page, 'a receipt on a phone');
  });
});
