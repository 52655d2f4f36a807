import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { quickAgent, writeProgram } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';
import { taskRecordSchema } from '../../../src/tasks/task.js';

const browser = sharedBrowser();

async function keeperOf(bridge: TestBridge, taskId: string): Promise<number> {
  const path = join(bridge.workplace.stateDir, 'tasks', taskId, 'record.json');
  const { keeper } = taskRecordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  if (keeper === null) throw new Error('It has no keeper.');
  return keeper.pid;
}

describeWith('browser', 'the board when something dies', () => {
  it('a keeper that is killed under an open page: the page says how its task ended, and so does its terminal', async () => {
    const workplace = await createWorkplace();
    const bridge = await startBridge({ claude: await quickAgent(workplace), workplace });
    const taskId = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
    const page = await boardPage(bridge, await browser());
    await page
      .getByRole('link', { name: /AGENT: never-exits/ })
      .first()
      .click();
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await page.getByText('You only watch.').waitFor();
    process.kill(await keeperOf(bridge, taskId), 'SIGKILL');
    await page.getByText('The session has ended.').waitFor();
    await page
      .getByText(/The process that kept this task ended without a word/)
      .first()
      .waitFor();
    expect(await bridge.status(taskId)).toMatchObject({ status: 'error' });
  });

  it('a server that is killed under an open page changes nothing there: its task goes on, is answered and ends', async () => {
    const workplace = await createWorkplace();
    const claude = await writeProgram(
      workplace,
      'echo-agent',
      'echo READY; read -r line </dev/tty; echo "GOT $line"',
    );
    const bridge = await startBridge({ claude, workplace });
    await bridge.start({ prompt: 'AGENT: echo', path: bridge.project });
    const page = await boardPage(bridge, await browser());
    await page
      .getByRole('link', { name: /AGENT: echo/ })
      .first()
      .click();
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
