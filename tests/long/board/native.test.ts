import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { personalClaude } from '../../harness/native-plugin.js';
import { describeWith } from '../../harness/needs.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();

describeWith('browser', 'sessions of a person on the board', () => {
  describeNewestClaude('a session that a person started', ({ binary }) => {
    it('asks on the board, which answers it and offers nothing else', async () => {
      const script = [
        runs('touch by-board'),
        says('The file is made.'),
        asks('Which shape?', ['Round', 'Square']),
        says('A round one.'),
      ];
      const bridge = await startBridge({ claude: binary, script });
      const claude = await personalClaude(bridge, binary);
      await claude.install();
      const page = await boardPage(bridge, await browser());
      await page.getByText('No tasks yet.').waitFor();
      const terminal = await claude.open();
      await terminal.prompt('make the file');
      await page.getByRole('article').waitFor();
      // On a busy machine the first prompt comes before Claude Code has the plugin's server.
      await page
        .getByRole('link', { name: /make the file|A session that a person started/ })
        .first()
        .click();
      await page.getByText('started by a person').waitFor();
      await page.getByText(/left to its terminal in 9 min/).waitFor();
      for (const name of ['Kill…', 'Interrupt', 'Always…', 'Send'])
        expect(await page.getByRole('button', { name }).count(), name).toBe(0);
      const tabs = ['Timeline', 'Changes', 'Receipt', 'Log', 'Prompt'];
      expect(await page.getByRole('tab').allTextContents()).toEqual(tabs);
      await page.getByRole('button', { name: 'Allow once' }).click();
      await terminal.sees('The file is made.');
      expect(bridge.has('by-board')).toBe(true);

      const [taskId = ''] = await bridge.ids();
      await terminal.prompt('which one');
      const answers = { 'Which shape?': 'Round' };
      const question = await bridge.answerNext(taskId, { verdict: 'allow', answers });
      expect(question).toMatchObject({ kind: 'question', options: ['Round', 'Square'] });
      await terminal.sees('Which shape? → Round');
      await terminal.sees('A round one.');
      await terminal.leave();
      await page.getByText('completed').first().waitFor();
    });
  });
});
