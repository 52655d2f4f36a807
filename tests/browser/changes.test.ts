import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { boardLink, boardPage, sharedBrowser } from '../harness/board-page.js';
import { discoveryOf } from '../harness/board-process.js';
import { endProcess } from '../harness/end-process.js';
import { describeWith } from '../harness/needs.js';
import { gitIn, writeFiles } from '../harness/project-files.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { serverEntry, startBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';
import { openTask } from './own-tasks.js';

describeWith('browser', 'the changes of a task', () => {
  const browser = sharedBrowser();

  test('what the page loads before anything is pressed is at most 60 KB of script', async () => {
    const folder = join(dirname(serverEntry), 'web');
    const loaded = new Map<string, string>();
    const load = async (name: string): Promise<void> => {
      if (loaded.has(name)) return;
      loaded.set(name, await readFile(join(folder, name), 'utf8'));
      const imports = loaded.get(name)?.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g) ?? [];
      for (const [, imported = ''] of imports) await load(imported);
    };
    await load('app.js');
    expect(loaded.size).toBeGreaterThan(3);
    expect([...loaded.values()].join('').length).toBeLessThanOrEqual(60_000);
  });

  // A program that is not Claude Code takes no messages.
  describeNewestClaude('with Claude Code', ({ binary }) => {
    test('are a diff whose lines take comments: they outlive a reload, and reach the model as one message', async () => {
      const bridge = await startBridge({
        claude: binary,
        script: [
          runs("printf 'let total = 0;\\n' > sum.js", 'I write it.'),
          says('Written.'),
          runs("printf 'const total = 0;\\n' > sum.js", 'I mend it.'),
          says('Mended.'),
        ],
      });
      const path = bridge.project;
      await writeFiles(path, { 'sum.js': 'var total = 0;\n' });
      for (const words of [
        ['init', '-q'],
        ['add', '.'],
        ['commit', '-qm', 'first'],
      ])
        gitIn(path, ...words);
      const page = await boardPage(bridge, await browser());
      const taskId = await bridge.start({ prompt: 'Sum it up.', path, keep_open: true });
      const task = await openTask(page, taskId);
      await task.getByRole('tabpanel', { name: 'Timeline' }).getByText('Written.').first().waitFor();
      const changes = task.getByRole('tabpanel', { name: 'Changes' });
      const scripts = async (): Promise<unknown> =>
        page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name).join()");
      expect(await scripts()).not.toContain('/syntax-');
      await task.getByRole('tab', { name: 'Changes' }).click();
      const lines = ['var total = 0;', 'let total = 0;'];
      await until('the lines of the diff', async () =>
        expect(await changes.locator('.code').allTextContents()).toEqual(lines),
      );
      const keyword = changes.locator('.added mark .in-keyword').getByText('let', { exact: true });
      await keyword.waitFor();
      const color = "getComputedStyle(document.querySelector('.added mark .in-keyword')).color";
      expect(await page.evaluate(color)).toBe('rgb(106, 31, 208)');
      await changes.getByRole('button', { name: 'Comment on line 1 of sum.js' }).click();
      const comment = changes.getByLabel('Comment', { exact: true });
      await comment.fill('Use const.');
      await endProcess((await discoveryOf(bridge)).owner.pid);
      await page.getByText('The connection to the board is lost').waitFor();
      await boardLink(bridge);
      await page.getByText('The connection to the board is lost').waitFor({ state: 'detached' });
      expect(await comment.inputValue()).toBe('Use const.');
      await comment.focus();
      await page.keyboard.press('Control+Enter');
      await changes.getByText('Not sent yet.').waitFor();
      await page.reload();
      await task.getByRole('tab', { name: 'Changes' }).click();
      await changes.getByText('Use const.').waitFor();
      await changes.getByRole('button', { name: 'Send them as one message' }).click();
      await changes.getByText('Use const.').waitFor({ state: 'detached' });
      await changes.getByText('const total = 0;').waitFor();
      const message = bridge.api.requests.find(({ userText }) => userText.includes('Comments on'));
      expect(message?.userText).toContain('sum.js, line 1:\n> let total = 0;\nUse const.');
      await bridge.call('kill_task', { task_id: taskId });
    });
  });
});
