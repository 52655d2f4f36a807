import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { editorsOfForm, sharedTaskEditor } from '../../harness/task-editor.js';
import { runCommand } from '../../harness/vscode-server.js';

const browser = sharedBrowser();

describeWith('editors', 'terminals of tasks in an editor', () => {
  describeNewestClaude('the terminal of a task, and the start of one,', ({ binary }) =>
    describe.each(editorsOfForm())('in VS Code $version', (installed) => {
      const { bridge, editor } = sharedTaskEditor(installed, browser, {
        claude: binary,
        projects: ['app', 'other'],
        script: ({ userText, toolResults }) =>
          toolResults.length === 0 && userText.includes('Touch.')
            ? runs('touch asked.txt')
            : says('All made.'),
        settings: { 'terminal.integrated.gpuAcceleration': 'off' },
      });
      beforeAll(async () => {
        await writeFile(join(bridge().project, 'notes.txt'), 'first line\nsecond line\n');
        await writeFile(join(bridge().project, 'broken.json'), '{\n  "a": \n}\n');
      });
      let first = '';

      /** What the model was asked with these words in it. */
      const request = async (words: string): Promise<string> => {
        const found = (): string | undefined =>
          bridge().api.requests.find(({ userText }) => userText.includes(words))?.userText;
        await expect.poll(found).toBeDefined();
        return found() ?? '';
      };

      test('shows the screen of the session, passes on what is typed, and has its size', async () => {
        const { page } = editor();
        first = await bridge().start({
          prompt: 'Touch.',
          path: bridge().project,
          permission_mode: 'cautious',
        });
        await bridge().until(first, ({ status }) => status === 'waiting');
        await runCommand(page, 'Claude Terminal Bridge: Open Terminal of a Task');
        await page.getByRole('option', { name: 'Touch.' }).click();
        await expect.poll(() => shown(page)).toMatch(/touch asked\.txt[^]*Do you want to proceed/);
        const sizes = async (): Promise<readonly string[]> => {
          const cast = join(bridge().workplace.stateDir, 'tasks', first, 'terminal.cast');
          return (await readFile(cast, 'utf8')).match(/"r", ?"\d+x\d+"/g) ?? [];
        };
        const before = await sizes();
        await runCommand(page, 'View: Toggle Secondary Side Bar Visibility');
        await expect.poll(async () => (await sizes()).length).toBeGreaterThan(before.length);
        await page.locator('.xterm-screen:visible').click();
        await page.keyboard.press('1');
        await expect.poll(() => existsSync(join(bridge().project, 'asked.txt'))).toBe(true);
        await expect.poll(() => shown(page)).toContain('All made.');
      });

      test('begins with a selection, after the task that has the folder; closing a terminal kills no task', async () => {
        const { page } = editor();
        await openFile(page, 'notes.txt');
        await page.locator('.monaco-editor').getByText('first line').click();
        await page.keyboard.press('Control+A');
        await runCommand(page, 'Claude Terminal Bridge: Start a Task with This Selection');
        await answer(page, 'Explain the notes.');
        await page.getByRole('button', { name: 'Queue' }).click();
        // The view takes the focus when it shows the task.
        const view = page.frameLocator('iframe.webview').frameLocator('iframe');
        await view.getByRole('heading', { name: /^Explain the notes/ }).waitFor();
        await runCommand(page, 'Terminal: Kill All Terminals');
        await page.locator('.xterm-screen:visible').waitFor({ state: 'detached' });
        expect(await request('Explain the notes.')).toContain(
          'File: notes.txt, lines 1 to 2\n\nSelected in the editor:\n\n```plaintext\nfirst line\nsecond line\n```',
        );
        expect((await bridge().status(first)).status).toBe('completed');
      });

      test('begins with a problem that the editor shows', async () => {
        const { page } = editor();
        await openFile(page, 'broken.json');
        await page.locator('.squiggly-error').first().waitFor();
        await runCommand(page, 'Go to Next Problem in Files (Error, Warning, Info)');
        await page.keyboard.press('Control+.');
        const fix = page.locator('.action-widget .focused').filter({ hasText: 'Ask Claude to fix this' });
        await fix.first().waitFor();
        await page.keyboard.press('Enter');
        await answer(page);
        expect(await request('Problems that the editor shows')).toMatch(
          /^Fix this problem: Value expected\n\nFile: broken\.json, line \d\n\nProblems that the editor shows there:\n- error, line \d: Value expected/m,
        );
      });
    }),
  );
});

/** What the terminal that is in front shows. */
async function shown(page: Page): Promise<string> {
  const rows = await page.locator('.xterm-rows:visible > div').allTextContents();
  return rows.join('\n').replaceAll('\u00a0', ' ');
}

async function openFile(page: Page, name: string): Promise<void> {
  await runCommand(page, 'View: Show Explorer');
  await page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: name }).dblclick();
  await page.getByRole('tab', { name }).waitFor();
}

/** Writes into the box that asks, or takes what stands there. */
async function answer(page: Page, words?: string): Promise<void> {
  const box = page.locator('.quick-input-widget').filter({ hasText: 'What is Claude to do?' });
  await box.waitFor();
  if (words !== undefined) await box.locator('input').fill(words);
  await page.keyboard.press('Enter');
}
