import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTask } from '../../browser/own-tasks.js';
import { barriers } from '../../harness/barriers.js';
import { boardLink, boardPage, sharedBrowser } from '../../harness/board-page.js';
import { discoveryOf } from '../../harness/board-process.js';
import { endProcess } from '../../harness/end-process.js';
import { describeWith } from '../../harness/needs.js';
import { gitIn, repository } from '../../harness/project-files.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { quickAgent, scriptedAgent } from '../../harness/scripted-agent.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();

describeWith('browser', 'the board', () => {
  it('a port that is taken is named, and a board that has ended leaves no file', async () => {
    const bridge = await startBridge({ claude: quickAgent });
    await boardLink(bridge);
    const { port, owner } = await discoveryOf(bridge);
    await expect(boardLink(bridge, '--port', `${port === 7_777 ? 7_778 : 7_777}`)).rejects.toThrow(
      `already runs at port ${port}`,
    );
    await endProcess(owner.pid);
    await expect(discoveryOf(bridge)).rejects.toThrow('ENOENT');
  });

  it('work in a worktree is discarded only after a question, and each page says what became of it', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const { project: path } = bridge;
    await repository(path);
    const first = await bridge.start({ path, prompt: 'AGENT: never-exits' });
    const checks = [{ name: 'lint', command: 'false' }];
    const beside = await bridge.start({ path, prompt: 'AGENT: exit 0', on_conflict: 'worktree', checks });
    await bridge.end(beside);
    await writeFile(join(path, '.claude', 'worktrees', beside, 'b.txt'), 'two\n');
    const one = await boardPage(bridge, await browser());
    const two = await boardPage(bridge, await browser());
    for (const page of [one, two]) await page.getByRole('link', { name: /AGENT: exit 0/ }).click();
    await one.getByRole('button', { name: 'Merge its branch' }).click();
    await one.getByText(/0 of 1 check met: lint: .* “AGENT: never-exits” works in the project now/).waitFor();
    await one.getByRole('button', { name: 'Keep it' }).click();
    await one.getByRole('button', { name: 'Discard its work…' }).click();
    await one.getByText('A ref keeps it').waitFor();
    expect(await barriers(one)).toEqual([]);
    await one.getByRole('button', { name: 'Discard it' }).click();
    const kept = `refs/claude-code-bridge/discarded/${beside}`;
    for (const page of [one, two]) {
      await page.getByRole('status').getByText(`Discarded; kept at ${kept}.`).waitFor();
      expect(await page.getByRole('button', { name: 'Merge its branch' }).count()).toBe(0);
      await page.getByRole('tabpanel').getByText('Discarded; kept at').waitFor();
      await page.getByRole('link', { name: `discarded: claude/agent-exit-0-${beside.slice(-6)}` }).waitFor();
    }
    expect(gitIn(path, 'show', '--format=', '--name-only', kept)).toBe('b.txt\n');
    await bridge.call('kill_task', { task_id: first });
  });

  describeNewestClaude('with Claude Code', ({ binary }) => {
    it('a task is watched, its question and its command are answered, and a message reaches it', async () => {
      const bridge = await startBridge({
        claude: binary,
        script: [
          asks('Which color?', ['Red', 'Blue']),
          runs('rm -f build.txt && echo "done it"', 'I clean up first.'),
          says('All is done.'),
          says('You are welcome.'),
        ],
      });
      const page = await boardPage(bridge, await browser());
      const taskId = await bridge.start({
        prompt: 'Clean up.',
        permission_mode: 'cautious',
        keep_open: true,
      });
      await openTask(page, taskId);
      await page.getByLabel('Blue').check();
      expect(await barriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Answer' }).click();
      await page.getByRole('article').getByLabel('Command').getByText('rm -f build.txt').waitFor();
      expect(await barriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Allow once' }).click();
      await page.getByText('All is done.').first().waitFor();
      await page.getByText('✓ Bash(rm -f build.txt && echo "done it"): exit code 0').click();
      await page.getByLabel('Output').getByText('done it').waitFor();
      await page.getByLabel('Message to the session').fill('Thank you.');
      await page.keyboard.press('Control+Enter');
      await page.getByText('You are welcome.').first().waitFor();
      await page.getByRole('button', { name: 'Kill…' }).click();
      await page.getByLabel('Why the task is killed').fill('Seen enough.');
      await page.getByRole('button', { name: 'Kill it' }).click();
      await page.getByText('killed: Seen enough.').first().waitFor();
      await page.getByRole('tab', { name: 'Receipt' }).click();
      await page.getByRole('tabpanel').getByText('rm -f build.txt').first().waitFor();
      expect(await barriers(page)).toEqual([]);
      expect(await bridge.status(taskId)).toMatchObject({ status: 'killed', reason: 'Seen enough.' });
    });
  });
});
