import { expect, test } from 'vitest';
import {
  openTask,
  openTerminal,
  ownTask,
  screenOf,
  takeKeyboard,
  untilShown,
} from '../../browser/own-tasks.js';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { writeProgram } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';
import { createWorkplace } from '../../harness/workplace.js';

/** Says how long each line was that it read. */
const COUNTS = 'exec </dev/tty; stty -echo; echo READY; while read -r line; do echo "GOT ${#line}"; done';

describeWith('browser', 'the terminal of a task', () => {
  const browser = sharedBrowser();

  test('is recorded as it runs, without what was typed, and is played when it is over', async () => {
    const workplace = await createWorkplace();
    const claude = await writeProgram(workplace, 'counts', COUNTS);
    const bridge = await startBridge({ claude, workplace });
    const taskId = await ownTask(bridge, 'Count.');
    const page = await boardPage(bridge, await browser());
    const replay = await openTask(page, taskId);
    await replay.getByRole('tab', { name: 'Replay' }).click();
    await replay.getByText('The task runs: the recording grows.').waitFor();
    await replay.getByRole('button', { name: 'Play' }).waitFor();
    await page.keyboard.press(' ');
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
