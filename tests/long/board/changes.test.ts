import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
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
});
