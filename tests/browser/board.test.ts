import { expect, test } from 'vitest';
import { boardLink, boardPage, sharedBrowser } from '../harness/board-page.js';
import { discoveryOf } from '../harness/board-process.js';
import { describeWith } from '../harness/needs.js';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { sharedBridge } from '../harness/start-bridge.js';
import { openTask, ownProject, ownTask, rowOf } from './own-tasks.js';

describeWith('browser', 'the board', () => {
  const browser = sharedBrowser();
  const bridge = sharedBridge({ claude: scriptedAgent });

  test('"claude-code-bridge board", also twice at once, opens one board: a task is seen as it starts, in its log, and is killed', async () => {
    const links = await Promise.all([boardLink(bridge()), boardLink(bridge())]);
    expect(new Set(links).size).toBe(2);
    expect(new Set(links.map((link) => new URL(link).port)).size).toBe(1);
    const page = await boardPage(bridge(), await browser());
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    const taskId = await ownTask(bridge(), 'AGENT: never-exits');
    await rowOf(page, taskId).getByText('running', { exact: true }).waitFor();
    const task = await openTask(page, taskId);
    await task.getByRole('tab', { name: 'Log' }).click();
    await task.getByRole('log').getByText('working').waitFor();
    await task.getByRole('button', { name: 'Kill…' }).click();
    await task.getByLabel('Why the task is killed').fill('Seen enough.');
    await task.getByRole('button', { name: 'Kill it' }).click();
    await rowOf(page, taskId).getByText('killed', { exact: true }).waitFor();
    await task.getByRole('log').getByText('Task killed').waitFor();
    expect(await bridge().status(taskId)).toMatchObject({ status: 'killed', reason: 'Seen enough.' });
  });

  test('a new task is started from the form that "n" opens, in a project of this machine', async () => {
    const page = await boardPage(bridge(), await browser());
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await page.keyboard.press('n');
    await page.getByLabel('Prompt').fill('AGENT: exit 0');
    await page.getByLabel('Project', { exact: true }).fill('/nowhere');
    await page.getByRole('button', { name: 'Start task' }).click();
    await page.getByRole('alert').getByText('/nowhere').waitFor();
    const path = await ownProject(bridge());
    await page.getByLabel('Project', { exact: true }).fill(path);
    await page.getByLabel('Mode', { exact: true }).selectOption('auto: asks nothing');
    await page.keyboard.press('Control+Enter');
    const task = page.getByRole('main').filter({ has: page.getByRole('tablist') });
    await task.getByText('auto', { exact: true }).waitFor();
    const id = await task.getByTitle('Copy the id').textContent();
    expect(await bridge().end(id ?? '')).toMatchObject({ status: 'completed' });
  });

  test('an open page says that its board was killed, goes on with the next one, and loses nothing that was typed', async () => {
    const page = await boardPage(bridge(), await browser());
    const before = await ownTask(bridge(), 'AGENT: exit 4');
    await bridge().end(before);
    const task = await openTask(page, before);
    const box = task.getByLabel('Start another task in this project');
    await box.fill('AGENT: exit 0');
    await box.press('Escape');
    await page.keyboard.press('Escape');
    await openTask(page, before);
    const { owner, port } = await discoveryOf(bridge());
    process.kill(owner.pid, 'SIGKILL');
    await page.getByText(/The connection to the board is lost.*main\.js'? board/).waitFor();
    const taskId = await ownTask(bridge(), 'AGENT: exit 3');
    expect(await bridge().end(taskId)).toMatchObject({ status: 'failed' });
    expect(new URL(await boardLink(bridge())).port).toBe(String(port));
    await page.getByText('The connection to the board is lost').waitFor({ state: 'detached' });
    await rowOf(page, taskId).getByText('failed', { exact: true }).waitFor();
    expect(await box.inputValue()).toBe('AGENT: exit 0');
    await box.press('Control+Enter');
    await page.getByRole('heading', { name: 'AGENT: exit 0' }).waitFor();
    await page.reload();
    await rowOf(page, taskId).waitFor();
    await boardLink(bridge(), '--new-token');
    await page.getByText('all open pages were shut out').waitFor();
  });
});
