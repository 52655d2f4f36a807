import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { gitIn } from '../../harness/project-files.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();

describeWith('browser', 'changes on the board', () => {
  describeNewestClaude('with Claude Code', ({ binary }) => {
    it('comments on a task that has ended are what one that goes on with them begins with', async () => {
      const bridge = await startBridge({
        claude: binary,
        script: [runs("echo 'let total = 0;' > sum.js"), says('Written.'), says('Looked at again.')],
      });
      gitIn(bridge.project, 'init', '-q');
      const page = await boardPage(bridge, await browser());
      const taskId = await bridge.start({ prompt: 'Sum it up.' });
      await bridge.end(taskId);
      await page.getByRole('link', { name: /completed Sum it up/ }).click();
      await page.getByRole('tab', { name: 'Changes' }).click();
      await page.getByRole('button', { name: 'Comment on line 1 of sum.js' }).click();
      await page.getByLabel('Comment', { exact: true }).fill('Is it needed?');
      await page.getByRole('button', { name: 'Add comment' }).click();
      await page.getByRole('button', { name: 'Start a task that continues with them' }).click();
      await page.getByRole('main').getByText('Looked at again.').first().waitFor();
      expect(bridge.api.requests.at(-1)?.userText).toContain('> let total = 0;\nIs it needed?');
      const { tasks } = await bridge.call('list_tasks', {});
      expect(tasks).toHaveLength(2);
    });
  });
});
