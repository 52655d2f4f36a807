import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import {
  openTask,
  openTerminal,
  ownTask,
  screenOf,
  takeKeyboard,
  untilShown,
} from '../../browser/own-tasks.js';
import { barriers } from '../../harness/barriers.js';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { program } from '../../harness/scripted-agent.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

const browser = sharedBrowser();

/** Says how long each line was that it read. */
const COUNTS = 'exec </dev/tty; stty -echo; echo READY; while read -r line; do echo "GOT ${#line}"; done';

async function openReplay(page: Page, prompt: RegExp): Promise<void> {
  await page.getByRole('link', { name: prompt }).first().click();
  await page.getByRole('tab', { name: 'Replay' }).click();
}

describeWith('browser', 'the replay', () => {
  describeNewestClaude('with Claude Code', ({ binary }) => {
    it('a task that has ended is played: its question, its end, and what happened in between', async () => {
      const bridge = await startBridge({
        claude: binary,
        script: [
          asks('Which color?', ['Red', 'Blue']),
          runs('echo blue > color.txt', 'I write it down.'),
          says('It is blue now.'),
        ],
      });
      const taskId = await bridge.start({ prompt: 'Choose a color.' });
      const { decision_id } = await bridge.decision(taskId);
      const screen = async () =>
        JSON.stringify(await bridge.call('get_task_output', { task_id: taskId, view: 'screen' }));
      await expect.poll(screen).toContain('Which color?');
      await bridge.call('respond_to_task', {
        task_id: taskId,
        decision_id,
        verdict: 'allow',
        answers: { 'Which color?': 'Blue' },
      });
      await expect.poll(async () => (await bridge.status(taskId)).status).toBe('completed');
      const page = await boardPage(bridge, await browser());
      await openReplay(page, /Choose a color/);
      const slider = page.getByRole('slider', { name: 'Moment' });
      await slider.waitFor();
      await expect.poll(() => screenOf(page)).toContain('Which color?');
      expect(await screenOf(page)).not.toContain('It is blue now.');
      expect(await barriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Play' }).click();
      // The last answer stands for a moment alone: Claude Code clears the screen when it ends.
      await expect.poll(() => screenOf(page)).toMatch(/It is blue now\.|Resume this session/);
      await page.getByRole('button', { name: 'Play' }).waitFor();
      expect(await barriers(page)).toEqual([]);
      await slider.focus();
      await page.keyboard.press('Home');
      await expect.poll(() => slider.getAttribute('aria-valuetext')).toContain('0:00 of');
      await expect.poll(() => screenOf(page)).not.toContain('It is blue now.');
      await page.getByRole('button', { name: 'Next decision' }).click();
      await expect.poll(() => screenOf(page)).toContain('Which color?');
      const tool = page.getByRole('button', { name: /✓ Bash\(echo blue/ });
      await tool.click();
      await until('its moment is shown', async () =>
        expect(await tool.getAttribute('aria-current')).toBe('true'),
      );
    });

    it('a task without a terminal says why there is nothing to play', async () => {
      const bridge = await startBridge({ claude: binary, script: [says('Hello.')] });
      await bridge.start({ prompt: 'Say hello.', driver: 'print' });
      const page = await boardPage(bridge, await browser());
      await openReplay(page, /Say hello/);
      await page.getByText('The task has no terminal').waitFor();
    });
  });

  it('a task is recorded as it runs, without what was typed, and is played when it is over', async () => {
    const claude = program('counts', COUNTS);
    const bridge = await startBridge({ claude });
    const taskId = await ownTask(bridge, 'Count.');
    const page = await boardPage(bridge, await browser());
    const replay = await openTask(page, taskId);
    await replay.getByRole('tab', { name: 'Replay' }).click();
    await replay.getByText('The task runs: the recording grows.').waitFor();
    await replay.getByRole('button', { name: 'Play' }).waitFor();
    await replay.getByRole('button', { name: 'Play' }).click();
    await replay.getByRole('button', { name: 'Pause' }).waitFor();
    await untilShown(replay, 'READY');
    const other = await boardPage(bridge, await browser());
    await takeKeyboard(await openTerminal(other, taskId));
    await other.keyboard.type('secret\n');
    await untilShown(replay, 'GOT 6');
    expect(await screenOf(replay)).not.toContain('secret');
    await bridge.call('kill_task', { task_id: taskId });
    await replay.getByText('The task runs: the recording grows.').waitFor({ state: 'detached' });
    await replay.getByRole('slider', { name: 'Moment' }).press('Home');
    await until('its beginning is shown', async () => expect(await screenOf(replay)).not.toContain('GOT 6'));
    await replay.getByRole('button', { name: 'Play' }).click();
    await untilShown(replay, 'GOT 6');
    await replay.getByRole('button', { name: 'Play' }).waitFor();
  });
});
