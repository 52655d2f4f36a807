import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
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

describeNewestClaude('with Claude Code', ({ binary }) => {
  it('comments on lines are kept over a reload, reach the model as one message, and are answered', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [
        runs("printf 'let total = 0;\\nlet count = 1;\\n' > sum.js", 'I write it.'),
        says('Written.'),
        runs("printf 'const total = 0;\\nlet count = 1;\\n' > sum.js", 'I mend it.'),
        says('Mended.'),
        says('Looked at again.'),
      ],
    });
    const git = (...args: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        cwd: bridge.project,
      });
    git('init', '-q');
    await writeFile(join(bridge.project, 'sum.js'), 'var total = 0;\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    const page = await boardPage(bridge, await browser());
    const taskId = await bridge.start({ prompt: 'Sum it up.', path: bridge.project, keep_open: true });
    await page
      .getByRole('link', { name: /Sum it up/ })
      .first()
      .click();
    await page.getByText('Written.').first().waitFor();
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByRole('button', { name: 'Comment on line 1 of sum.js' }).click();
    await page.getByLabel('Comment', { exact: true }).fill('Use const.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Not sent yet.').waitFor();
    await page.reload();
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText('Use const.').waitFor();
    await page.getByRole('button', { name: 'Send them as one message' }).click();
    await page.getByText('Answered: the line has changed since.').waitFor();
    const asked = bridge.api.requests
      .map(({ userText }) => userText)
      .find((text) => text.includes('Comments on'));
    expect(asked).toContain('sum.js, line 1:');
    expect(asked).toContain('> let total = 0;');
    expect(asked).toContain('Use const.');
    await bridge.call('kill_task', { task_id: taskId });
    await page.getByRole('button', { name: 'Comment on line 2 of sum.js' }).click();
    await page.getByLabel('Comment', { exact: true }).fill('Is it needed?');
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('button', { name: 'Start a task that goes on with them' }).click();
    await page.getByText('Looked at again.').first().waitFor();
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
    const git = (...args: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        cwd: bridge.project,
      });
    git('init', '-q');
    await writeFile(join(bridge.project, 'logo.png'), Buffer.from(OLD_PNG, 'base64'));
    git('add', '.');
    git('commit', '-qm', 'first');
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
