import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { boardPage, sharedBrowser } from '../harness/board-page.js';
import { describeWith } from '../harness/needs.js';
import { writeProgram } from '../harness/scripted-agent.js';
import { sharedBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';
import { createWorkplace } from '../harness/workplace.js';
import { openTask, ownTask, screenOf } from './own-tasks.js';

/** Says what it read, or only how long it was. */
const ECHOES = `read -r _ way; exec </dev/tty
if [ "$way" = counts ]; then stty -echo; echo READY; while read -r line; do echo "GOT \${#line}"; done; fi
echo READY; while read -r line; do echo "GOT $line"; done`;

async function openTerminal(page: Page, taskId: string): Promise<Locator> {
  const task = await openTask(page, taskId);
  await task.getByRole('tab', { name: 'Terminal' }).click();
  await task.getByText('only watch.').waitFor();
  return task;
}

async function takeKeyboard(task: Locator): Promise<void> {
  await task.getByRole('button', { name: 'Take the keyboard' }).click();
  await task.getByText('Your keys go to the session.').waitFor();
}

async function untilShown(task: Locator, words: string): Promise<void> {
  await until(`the terminal shows ${words}`, async () => expect(await screenOf(task)).toContain(words));
}

describeWith('browser', 'the terminal of a task', () => {
  const browser = sharedBrowser();
  const bridge = sharedBridge(async () => {
    const workplace = await createWorkplace();
    return { claude: await writeProgram(workplace, 'echoes', ECHOES), workplace };
  });

  test('is typed into by the page alone that took the keyboard; another one takes it over', async () => {
    const taskId = await ownTask(bridge(), 'AGENT: echoes');
    const one = await boardPage(bridge(), await browser());
    const first = await openTerminal(one, taskId);
    await untilShown(first, 'READY');
    await first.locator('.terminal-place').click();
    await one.keyboard.type('unheard\n');
    await takeKeyboard(first);
    await one.keyboard.type('first\n');
    await untilShown(first, 'GOT first');
    await one.keyboard.press('Shift+Tab');
    expect(await one.evaluate(() => document.activeElement?.textContent)).toBe('Give the keyboard back');
    await first.locator('.terminal-place').click();
    await one.keyboard.type('unmixed\n');
    await untilShown(first, 'GOT unmixed');
    const two = await boardPage(bridge(), await browser());
    const second = await openTerminal(two, taskId);
    await second.getByText('chrome-1 has the keyboard; you only watch.').waitFor();
    await takeKeyboard(second);
    await first.getByText('chrome-2 has the keyboard; you only watch.').waitFor();
    await two.keyboard.type('second\n');
    await untilShown(second, 'GOT second');
    await untilShown(first, 'GOT second');
    expect(await screenOf(second)).not.toContain('GOT unheard');
  });

  test('is recorded as it runs, without what was typed, and is played when it is over', async () => {
    const taskId = await ownTask(bridge(), 'AGENT: counts');
    const page = await boardPage(bridge(), await browser());
    const replay = await openTask(page, taskId);
    await replay.getByRole('tab', { name: 'Replay' }).click();
    await replay.getByText('The task runs: the recording grows.').waitFor();
    await replay.getByRole('button', { name: 'Play' }).waitFor();
    await page.keyboard.press(' ');
    await replay.getByRole('button', { name: 'Pause' }).waitFor();
    await untilShown(replay, 'READY');
    const other = await boardPage(bridge(), await browser());
    await takeKeyboard(await openTerminal(other, taskId));
    await other.keyboard.type('secret\n');
    await untilShown(replay, 'GOT 6');
    expect(await screenOf(replay)).not.toContain('secret');
    await bridge().call('kill_task', { task_id: taskId });
    await replay.getByText('The task runs: the recording grows.').waitFor({ state: 'detached' });
    await replay.getByRole('slider', { name: 'Moment' }).press('Home');
    await until('its beginning is shown', async () => expect(await screenOf(replay)).not.toContain('GOT 6'));
    await replay.getByRole('button', { name: 'Play' }).click();
    await untilShown(replay, 'GOT 6');
    await replay.getByRole('button', { name: 'Play' }).waitFor();
  });
});
