import { expect, it } from 'vitest';
import { openTask, openTerminal } from '../../browser/own-tasks.js';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { program, quickAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();

describeWith('browser', 'the board when something dies', () => {
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
