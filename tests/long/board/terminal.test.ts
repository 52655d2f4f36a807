import { expect, it } from 'vitest';
import { openTask, openTerminal, screenOf, takeKeyboard, untilShown } from '../../browser/own-tasks.js';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { program, quickAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();
/** Of the short form a tenth. */
const FLOOD_MB = process.env['SOAK'] === '1' ? 200 : 20;

describeWith('browser', 'the terminal on the board', () => {
  it(`after ${FLOOD_MB} MB the page shows what is at their end, and Ctrl-C ends what follows`, async () => {
    const claude = program(
      'long-flood',
      `trap 'echo; echo STOPPED; sleep 600' INT; echo READY; read -r line </dev/tty; yes "a line of a long flood" | head -c ${FLOOD_MB}000000; echo; echo FLOOD-OVER; read -r line </dev/tty; yes "more"`,
    );
    const bridge = await startBridge({ claude });
    const taskId = await bridge.start({ prompt: 'AGENT: long-flood' });
    const page = await boardPage(bridge, await browser());
    const task = await openTerminal(page, taskId);
    await takeKeyboard(task);
    await page.keyboard.press('Enter');
    await expect.poll(() => screenOf(task), { timeout: 80_000 }).toContain('FLOOD-OVER');
    await page.keyboard.press('Enter');
    await untilShown(task, 'more');
    await page.keyboard.press('Control+c');
    await untilShown(task, 'STOPPED');
    await bridge.call('kill_task', { task_id: taskId });
  });

  it('what a program prints for the clipboard, titles, links and counts does nothing to the page, neither in the terminal nor in the replay', async () => {
    const claude = program(
      'attacker',
      String.raw`printf '\033]52;c;c3RvbGVu\007\033]0;FORGED\007\033]2;FORGED\007\033]8;;javascript:document.title=1\007click\033]8;;\007\033]8;;file:///etc/passwd\007here\033]8;;\007\nREADY\n'; read -r line </dev/tty; printf 'x\033[2147483647b\033[2147483647L\033[999;999H\033[1J\033[c\033[6n\r\nOVER\r\n'; sleep 1`,
    );
    const bridge = await startBridge({ claude });
    const taskId = await bridge.agent('attack');
    const page = await boardPage(bridge, await browser());
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    const task = await openTerminal(page, taskId);
    await untilShown(task, 'READY');
    for (const word of ['click', 'here']) await page.getByText(word).first().click({ force: true });
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/task_/);
    await takeKeyboard(task);
    await page.keyboard.press('Enter');
    expect(await bridge.end(taskId)).toMatchObject({ status: 'completed' });
    await task.getByRole('tab', { name: 'Replay' }).click();
    await task.getByRole('button', { name: 'Play' }).click();
    await untilShown(task, 'OVER');
    await task.getByRole('slider', { name: 'Moment' }).press('End');
    await untilShown(task, 'OVER');
    expect(await page.title()).toBe('Claude Code Bridge');
    expect(asked).toEqual([]);
    expect(page.context().pages()).toHaveLength(1);
  });

  it('a keeper that is killed under an open page: the page says how its task ended, and so does its terminal', async () => {
    const bridge = await startBridge({ claude: quickAgent });
    const taskId = await bridge.agent('never-exits');
    const page = await boardPage(bridge, await browser());
    await openTerminal(page, taskId);
    await bridge.killKeeper(taskId);
    await page.getByText('The session has ended.').waitFor();
    await page
      .getByText(/The process that kept this task ended without a word/)
      .first()
      .waitFor();
    expect(await bridge.status(taskId)).toMatchObject({ status: 'error' });
  });

  it('a server that is killed under an open page changes nothing there: its task goes on, is answered and ends', async () => {
    const claude = program('echo-agent', 'echo READY; read -r line </dev/tty; echo "GOT $line"');
    const bridge = await startBridge({ claude });
    const taskId = await bridge.agent('echo');
    const page = await boardPage(bridge, await browser());
    await openTask(page, taskId);
    process.kill(bridge.mcp.pid, 'SIGKILL');
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await page.getByRole('button', { name: 'Take the keyboard' }).click();
    await page.getByText('Your keys go to the session.').waitFor();
    await page.keyboard.type('on it goes\n');
    await page.getByText('The session has ended.').waitFor();
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.getByRole('log').getByText('GOT on it goes').waitFor();
    await page.getByRole('log').getByText('Task completed with exit code 0').waitFor();
  });
});
