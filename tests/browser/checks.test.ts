import { join } from 'node:path';
import { expect, test } from 'vitest';
import { barriers } from '../harness/barriers.js';
import { boardPage, overflowOf, sharedBrowser } from '../harness/board-page.js';
import { describeWith } from '../harness/needs.js';
import { gitIn, repository, writeFiles } from '../harness/project-files.js';
import { says } from '../harness/scripted-turns.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { sharedBridge } from '../harness/start-bridge.js';
import { openTask, rowOf } from './own-tasks.js';

const LINT = "echo 'cart.js:7 no-unused-vars'; exit 3";

describeWith('browser', 'the checks of a task', () => {
  describeNewestClaude('with Claude Code', ({ binary }) => {
    const browser = sharedBrowser();
    const bridge = sharedBridge({ claude: binary, script: [says('All checks pass.'), says('Done.')] });

    test('are on its page, with what is not met and its output, and in the list; the brief is there too', async () => {
      const checks = [
        { name: 'unit', command: 'true' },
        { name: 'lint', command: LINT },
        { name: 'types', command: 'no-such-program' },
      ];
      const brief = { goal: 'One discount', decided: ['No new dependency'] };
      const taskId = await bridge().start({ prompt: 'Apply it once.', brief, checks });
      const page = await boardPage(bridge(), await browser());
      await rowOf(page, taskId).getByText('1 of 3 checks met').waitFor();
      const task = await openTask(page, taskId);
      await task.getByRole('heading', { name: 'Apply it once.', exact: true }).waitFor();
      for (const view of ['Timeline', 'Receipt']) {
        await task.getByRole('tab', { name: view }).click();
        const shown = task.getByRole('tabpanel', { name: view });
        await shown.getByRole('heading', { name: '1 of 3 checks met' }).waitFor();
        const rows = await shown.locator('.checked .check').allInnerTexts();
        expect(rows.map((row) => row.replaceAll(/\s+/g, ' '))).toEqual([
          expect.stringMatching(/^unit met · \d\.\d s$/),
          expect.stringMatching(/^lint not met: exit code 3 · \d\.\d s /),
          expect.stringMatching(/^types not run: the shell did not find the command/),
        ]);
      }
      await task.getByText('The end of its output').first().click();
      const output = task.getByLabel('The end of the output of lint');
      expect(await output.innerText()).toBe(`$ ${LINT}\ncart.js:7 no-unused-vars`);
      await task.getByText('Brief', { exact: true }).click();
      expect(await task.getByLabel('Brief').innerText()).toContain('Decided:\n- No new dependency');
      await page.setViewportSize({ width: 400, height: 700 });
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await barriers(page), colorScheme).toEqual([]);
      }
    });

    test('that were met on another state ask before their work is merged', async () => {
      const path = await bridge().newProject('apart');
      await repository(path, { 'a.txt': 'a\n' });
      const checks = [{ name: 'unit', command: 'true' }];
      const taskId = await bridge().start({ path, prompt: 'Apart.', checks, on_conflict: 'always_worktree' });
      await bridge().end(taskId);
      await writeFiles(join(path, '.claude', 'worktrees', taskId), { 'later.txt': 'later\n' });
      const task = await openTask(await boardPage(bridge(), await browser()), taskId);
      await task.getByRole('button', { name: 'Merge its branch' }).click();
      await task.getByText('The checks were met on another state than this one.').waitFor();
      await task.getByRole('button', { name: 'Merge anyway' }).click();
      await task
        .getByRole('status')
        .getByText(/merged/i)
        .waitFor();
      expect(gitIn(path, 'log', '-1', '--format=%B')).toContain('Checks not met: unit (not run: it was met');
    });
  });
});
