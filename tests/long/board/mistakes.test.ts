import { expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { openTask } from '../../browser/own-tasks.js';
import { boardLink, boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { repository } from '../../harness/project-files.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { asksEnv, scriptedAgent } from '../../harness/scripted-agent.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const browser = sharedBrowser();

/** Two tasks that ask, the cards of both live on the page. */
async function twoCards(): Promise<{ bridge: TestBridge; page: Page; ids: string[] }> {
  const bridge = await startBridge({ claude: scriptedAgent, env: asksEnv, projects: ['app', 'b'] });
  const page = await boardPage(bridge, await browser());
  const ids: string[] = [];
  for (const project of bridge.projects) {
    ids.push(await bridge.start({ prompt: 'AGENT: split-prompt', path: project }));
    await page
      .getByRole('article')
      .nth(ids.length - 1)
      .waitFor();
  }
  await expect.poll(() => page.getByRole('button', { name: 'Allow once' }).last().isEnabled()).toBe(true);
  return { bridge, page, ids };
}

describeWith('browser', 'mistakes at the board', () => {
  it('a click that was meant for a card that has gone does not allow the one that moved there', async () => {
    const { bridge, page, ids } = await twoCards();
    const [first = '', second = ''] = ids;
    const box = await page.getByRole('button', { name: 'Allow once' }).first().boundingBox();
    if (box === null) throw new Error('the first card has no button');
    const { decision_id } = await bridge.decision(first);
    await bridge.call('respond_to_task', { task_id: first, decision_id, verdict: 'deny' });
    await expect.poll(() => page.getByRole('article').count(), { interval: 5 }).toBe(1);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await expect.poll(() => page.getByRole('button', { name: 'Allow once' }).isEnabled()).toBe(true);
    expect(await bridge.events(second, 'decision-closed')).toEqual([]);
    await bridge.call('kill_task', { task_id: second });
  });

  it('a key that is held down answers one question', async () => {
    const { bridge, page, ids } = await twoCards();
    const [first = '', second = ''] = ids;
    await page.getByRole('article').first().focus();
    await page.keyboard.down('y');
    await expect.poll(() => page.getByRole('article').count(), { interval: 5 }).toBe(1);
    // Without a release between them these are repeats.
    await page.keyboard.down('y');
    await expect.poll(() => page.getByRole('button', { name: 'Allow once' }).isEnabled()).toBe(true);
    await page.keyboard.down('y');
    await page.keyboard.up('y');
    await page.getByRole('heading', { name: 'Tasks' }).click();
    expect(await bridge.events(first, 'decision-closed')).toHaveLength(1);
    expect(await bridge.events(second, 'decision-closed')).toEqual([]);
    await bridge.call('kill_task', { task_id: second });
  });

  describeNewestClaude('with Claude Code', ({ binary }) => {
    it('questions with any words are shown as they are chosen, and the model gets just that', async () => {
      const bridge = await startBridge({
        claude: binary,
        script: [
          asks('Which?', ['Red, warm', 'Blue', 'Green'], { multiSelect: true }),
          asks('constructor', ['Yes', 'No']),
          says('Done.'),
        ],
      });
      const page = await boardPage(bridge, await browser());
      const taskId = await bridge.start({ prompt: 'Ask.', permission_mode: 'cautious' });
      await page.getByLabel(/^Red, warm/).click();
      await page.getByLabel(/^Blue/).click();
      expect(await page.getByLabel(/^Red, warm/).isChecked()).toBe(true);
      await page.getByRole('button', { name: 'Answer' }).click();
      await page.getByRole('article').getByText('constructor').waitFor();
      expect(await page.getByRole('button', { name: 'Answer' }).isEnabled()).toBe(false);
      await page.getByLabel(/^No/).click();
      await page.getByRole('button', { name: 'Answer' }).click();
      expect(await bridge.end(taskId)).toMatchObject({ status: 'completed' });
      const bodies = JSON.stringify(bridge.api.requests);
      expect(bodies).toContain('Red, warm, Blue');
      expect(bodies).toMatch(/constructor\W+No/);
    });

    it('a card shows the tool and every field of a request', async () => {
      const odd = { run_in_background: true, dangerouslyDisableSandbox: true };
      const input = { command: 'ls /root', description: 'List files', ...odd };
      const bridge = await startBridge({
        claude: binary,
        script: [{ tools: [{ name: 'Bash', input }] }],
      });
      const page = await boardPage(bridge, await browser());
      const taskId = await bridge.start({ prompt: 'List.', permission_mode: 'cautious' });
      const card = page.getByRole('article');
      await card.getByText('Run a command?').waitFor();
      await expect.poll(() => card.innerText()).toMatch(/run_in_background\s+true/);
      expect(await card.innerText()).toMatch(/dangerouslyDisableSandbox\s+true/);
      await bridge.call('kill_task', { task_id: taskId });
    });

    it('a comment stays with the line that was pressed, and a new link opens in the old tab', async () => {
      const bridge = await startBridge({
        claude: binary,
        script: [
          runs("printf 'let a = 0;\\nlet b = 1;\\n' > sum.js", 'I write it.'),
          says('Written.'),
          runs("printf 'new line\\nanother\\nlet a = 0;\\nlet b = 1;\\n' > sum.js", 'I mend it.'),
          says('Mended.'),
        ],
      });
      await repository(bridge.project, { 'sum.js': 'var total = 0;\n' });
      const page = await boardPage(bridge, await browser());
      const taskId = await bridge.start({ prompt: 'Sum up.', keep_open: true });
      await openTask(page, taskId);
      await page.getByText('Written.').first().waitFor();
      await page.getByRole('tab', { name: 'Changes' }).click();
      await page.getByRole('button', { name: 'Comment on line 1 of sum.js' }).click();
      await page.getByLabel('Comment', { exact: true }).fill('Rename a.');
      await bridge.call('message_task', { task_id: taskId, text: 'Go on.' });
      await page.getByText('The line has moved or changed since you began to write.').waitFor();
      expect(await page.getByLabel('Comment', { exact: true }).inputValue()).toBe('Rename a.');
      await page.getByRole('button', { name: 'Add comment' }).click();
      await page.getByText('line 1: let a = 0;').waitFor();
      await page.getByText('Not sent yet.').waitFor();
      await page.goto(await boardLink(bridge));
      await page.getByRole('heading', { name: 'Tasks' }).waitFor();
      await expect.poll(() => page.url()).not.toContain('code=');
      await bridge.call('kill_task', { task_id: taskId });
    });
  });
});
