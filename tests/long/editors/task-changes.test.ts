import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { repository } from '../../harness/project-files.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { editorsOfForm, sharedTaskEditor } from '../../harness/task-editor.js';
import { runCommand } from '../../harness/vscode-server.js';

const browser = sharedBrowser();

/** Opens what the list of changes has by this name. */
async function openChange(page: Page, name: string): Promise<void> {
  await runCommand(page, 'Open Changes of a Task');
  await row(page, 'Sum it up').click();
  await row(page, name).click();
}

function row(page: Page, text: string): Locator {
  return page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
}

describeWith('editors', 'changes of a task in an editor', () => {
  describeNewestClaude('changes of a task', ({ binary }) =>
    describe.each(editorsOfForm())('in VS Code $version', (installed) => {
      const { bridge, editor } = sharedTaskEditor(installed, browser, {
        claude: binary,
        script: [
          runs(
            "printf 'let total = 0;\\nlet count = 1;\\n' > sum.js; printf 'a\\0b' > '[data](command:workbench.action.showAboutDialog).bin'",
            'I write it.',
          ),
          says('Written.'),
        ],
      });

      beforeAll(() => repository(bridge().project, { 'sum.js': 'var total = 0;\n' }));

      test('are shown as diffs, by file and together', async () => {
        const { page } = editor();
        const { project, api } = bridge();
        const id = await bridge().start({ prompt: 'Sum it up.', path: project, keep_open: true });
        onTestFinished(async () => void (await bridge().call('kill_task', { task_id: id })));
        await expect.poll(() => api.turnsServed).toBe(2);

        await openChange(page, 'sum.js');
        const diff = page.locator('.monaco-diff-editor').first();
        await diff.getByText('var total = 0;').first().waitFor();

        // The session chose the name: it is no link.
        await openChange(page, '[data]');
        const noText = page
          .locator('.notification-list-item-message')
          .filter({ hasText: 'no text to compare' });
        await noText.first().waitFor();
        expect(await noText.getByRole('link').count()).toBe(0);
        await openChange(page, 'All files');
        await page.locator('.multiDiffEditor').getByText('let total = 0;').first().waitFor();
      });
    }),
  );
});
