import { describe, expect, inject, test } from 'vitest';
import { sharedBrowser } from '../harness/board-page.js';
import { discoveryOf } from '../harness/board-process.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { sharedTaskEditor } from '../harness/task-editor.js';

const browser = sharedBrowser();

describeNewestClaude('tasks in the editor', ({ binary }) =>
  describe.each(inject('vscodes'))('VS Code $version', (installed) => {
    const { bridge } = sharedTaskEditor(installed, browser, {
      claude: binary,
      script: [runs('touch asked.txt'), says('All made.')],
    });

    test('are shown with the board, which the window starts when there is a task', async () => {
      const id = await bridge().start({
        prompt: 'Touch.',
        path: bridge().project,
        permission_mode: 'cautious',
      });
      await expect
        .poll(
          () =>
            discoveryOf(bridge()).then(
              ({ port }) => port > 0,
              () => false,
            ),
          { timeout: 30_000 },
        )
        .toBe(true);
      await bridge().call('kill_task', { task_id: id });
    });
  }),
);
