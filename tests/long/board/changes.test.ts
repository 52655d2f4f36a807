import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { gitIn } from '../../harness/project-files.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();

/** 40 × 30, red. */
const OLD_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAACgAAAAeCAIAAADRv8uKAAAAK0lEQVR4nO3NMQ0AAAgDsCmZfynIQgYcTfo3056IWCwWi8VisVgsFov/xgvk2cL9h1Oh3gAAAABJRU5ErkJggg==';
/** 60 × 20, blue. */
const NEW_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAADwAAAAUCAIAAABeYcl+AAAAMUlEQVR4nO3OAQkAAAgDMJPYP4qxjOGFwQKsuuedOh9IB5OWlg4gLS0dQFpaOsDL9ALbjcL9YQW9OwAAAABJRU5ErkJggg==';

describeWith('browser', 'changes on the board', () => {
  describeNewestClaude('with Claude Code', ({ binary }) => {
    it('comments on a task that has ended are what one that goes on with them begins with', async () => {
      const bridge = await startBridge({
        claude: binary,
        script: [runs("echo 'let total = 0;' > sum.js"), says('Written.'), says('Looked at again.')],
      });
      gitIn(bridge.project, 'init', '-q');
      const page = await boardPage(bridge, await browser());
      const taskId = await bridge.start({ prompt: 'Sum it up.', path: bridge.project });
      await bridge.end(taskId);
      await page.getByRole('link', { name: /completed Sum it up/ }).click();
      await page.getByRole('tab', { name: 'Changes' }).click();
      await page.getByRole('button', { name: 'Comment on line 1 of sum.js' }).click();
      await page.getByLabel('Comment', { exact: true }).fill('Is it needed?');
      await page.getByRole('button', { name: 'Keep' }).click();
      await page.getByRole('button', { name: 'Start a task that goes on with them' }).click();
      await page.getByRole('main').getByText('Looked at again.').first().waitFor();
      expect(bridge.api.requests.at(-1)?.userText).toContain('> let total = 0;\nIs it needed?');
      const { tasks } = await bridge.call('list_tasks', {});
      expect(tasks).toHaveLength(2);
    });

    it('a changed image is shown as it was beside as it is now, and a file that only has the name says why not', async () => {
      const bridge = await startBridge({
        claude: binary,
        script: [
          runs(`echo ${NEW_PNG} | base64 -d > logo.png; printf '\\0no image' > fake.png`),
          says('Drawn.'),
        ],
      });
      gitIn(bridge.project, 'init', '-q');
      await writeFile(join(bridge.project, 'logo.png'), Buffer.from(OLD_PNG, 'base64'));
      gitIn(bridge.project, 'add', '.');
      gitIn(bridge.project, 'commit', '-qm', 'first');
      const page = await boardPage(bridge, await browser());
      const taskId = await bridge.start({ prompt: 'Draw it.', path: bridge.project });
      await bridge.end(taskId);
      await page
        .getByRole('link', { name: /Draw it/ })
        .first()
        .click();
      await page.getByRole('tab', { name: 'Changes' }).click();
      await page.getByText(`Before: 40 × 30, ${Buffer.from(OLD_PNG, 'base64').length} bytes`).waitFor();
      await page.getByText(`Now: 60 × 20, ${Buffer.from(NEW_PNG, 'base64').length} bytes`).waitFor();
      await page.getByText('The file is not an image that a browser shows').waitFor();
    });
  });
});
