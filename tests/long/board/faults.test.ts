import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { boardLink, boardPage, sharedBrowser } from '../../harness/board-page.js';
import { discoveryOf } from '../../harness/board-process.js';
import { describeWith } from '../../harness/needs.js';
import { asksAboutPrompts, quickAgent, scriptedAgent, writeProgram } from '../../harness/scripted-agent.js';
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

  it('a board that is killed under an answer that is being written: the words stay, and the next board takes them', async () => {
    const rules = { MCP_RULES: JSON.stringify(asksAboutPrompts) };
    const bridge = await startBridge({ claude: scriptedAgent, env: rules });
    const taskId = await bridge.start({ prompt: 'AGENT: split-prompt', path: bridge.project });
    const page = await boardPage(bridge, await browser());
    const box = page.getByRole('article').getByLabel('With Deny: why, or what to do instead');
    await box.fill('Ask me tomorrow.');
    process.kill((await discoveryOf(bridge)).owner.pid, 'SIGKILL');
    await page.getByText(/The connection to the board is lost/).waitFor();
    await boardLink(bridge);
    await page.getByText('The connection to the board is lost').waitFor({ state: 'detached' });
    expect(await box.inputValue()).toBe('Ask me tomorrow.');
    await page.getByRole('article').getByRole('button', { name: 'Deny' }).click();
    await bridge.end(taskId);
    const [closed] = await bridge.events(taskId, 'decision-closed');
    expect(closed).toMatchObject({ verdict: 'deny', reason: expect.stringContaining('tomorrow') as unknown });
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
