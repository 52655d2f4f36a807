import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
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
        settings: { 'files.autoSave': 'off' },
        script: [
          runs(
            "printf 'let total = 0;\\nlet count = 1;\\n' > sum.js; printf 'a\\0b' > '[data](command:workbench.action.showAboutDialog).bin'",
            'I write it.',
          ),
          says('Written.'),
          runs("printf 'let total = 0;\\n' > sum.js", 'I take it away.'),
          says('Taken away.'),
        ],
      });

      beforeAll(async () => {
        const { project } = bridge();
        const git = (...args: string[]): void =>
          void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: project });
        git('init', '-q');
        await writeFile(join(project, 'sum.js'), 'var total = 0;\n');
        git('add', '.');
        git('commit', '-qm', 'first');
      });

      test('are shown as diffs, and comments on lines reach the session as one message', async () => {
        const { page } = editor();
        const { project, workplace, api } = bridge();
        const id = await bridge().start({ prompt: 'Sum it up.', path: project, keep_open: true });
        onTestFinished(async () => void (await bridge().call('kill_task', { task_id: id })));
        await expect.poll(() => api.turnsServed).toBe(2);

        await openChange(page, 'sum.js');
        const diff = page.locator('.monaco-diff-editor').first();
        await diff.getByText('var total = 0;').first().waitFor();
        const commentable = diff.locator('.editor.modified .comment-range-glyph');
        await expect.poll(() => commentable.count()).toBe(2);
        await commentable.nth(1).click();
        const thread = page.locator('.review-widget');
        await thread.locator('.comment-form .monaco-editor').waitFor();
        await page.keyboard.type('Is it needed?');
        const add = page.getByRole('button', { name: 'Add Comment' });
        const toasts = page.locator('.notifications-toasts');

        // The person's own changes are not on disk: the lines would have other numbers.
        const line = diff.locator('.editor.modified .view-line').filter({ hasText: /=.0;/ }).last();
        await line.click();
        await page.keyboard.type('x');
        await add.click();
        await toasts.getByText(/Save the file first/).waitFor();
        await line.click();
        await page.keyboard.press('Control+Z');

        // The board cannot store it: the text stays in the box.
        const reviews = join(workplace.stateDir, 'board', 'reviews');
        await mkdir(reviews, { recursive: true });
        await writeFile(join(reviews, `${id}.json`), '{');
        await add.click();
        await toasts.getByText(/cannot be read/).waitFor();
        await rm(join(reviews, `${id}.json`));
        await add.click();
        await thread.getByText('Not sent yet.').waitFor();
        await thread.getByText('Is it needed?').waitFor();

        await page.getByRole('button', { name: 'Send Comments to Claude' }).click();
        await thread.getByText('Answered: the line has changed since.').waitFor();
        await thread.getByText('On line 2, which was: let count = 1;').waitFor();
        const asked = api.requests
          .map(({ userText }) => userText)
          .filter((text) => text.includes('Comments on your changes'));
        expect(new Set(asked).size).toBe(1);
        expect(asked[0]).toContain('sum.js, line 2:\n> let count = 1;\nIs it needed?');

        // The session chose the name: it is no link.
        await openChange(page, '[data]');
        const noText = page
          .locator('.notification-list-item-message')
          .filter({ hasText: 'no text to compare' });
        await noText.first().waitFor();
        expect(await noText.getByRole('link').count()).toBe(0);
        await openChange(page, 'All files');
        await page.locator('.multiDiffEditor').getByText('let total = 0;').first().waitFor();

        // With the last diff its threads go.
        await runCommand(page, 'View: Close All Editors');
        await page.getByText('There are no comments in this workspace yet').waitFor();
      });
    }),
  );
});
