import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../harness/board-page.js';
import { planTurns } from '../harness/plan-turns.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { startBridge } from '../harness/start-bridge.js';

const browser = sharedBrowser();

const plan = `# Clean the house

1. Remove \`build.txt\`.
2. <img src="https://example.com/x.png" onerror="document.title = 'taken'">

- [x] asked [https://good.example](https://bad.example/)
- [ ] ![picture](https://example.com/y.png)

| what | when |
| ---- | ---- |
| sweep\u202e | now |
`;

describeNewestClaude('with Claude Code', ({ binary }) => {
  it('a plan is shown as Markdown in which nothing runs or loads, or as it is written, and is allowed', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: (request) => {
        if (request.kind !== 'turn') return says('Nothing.');
        const next = turns[0]?.() ?? says('No more.');
        turns.shift();
        return next;
      },
    });
    const turns = [...planTurns(bridge, plan), () => says('Done as planned.')];
    const page = await boardPage(bridge, await browser());
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await bridge.start({ prompt: 'Clean.', path: bridge.project, permission_mode: 'cautious' });
    const card = page.getByRole('article', { name: /has a plan/ });
    await card.getByRole('heading', { name: 'Clean the house' }).waitFor();
    const shown = card.getByLabel('Plan');
    expect(await shown.locator('img').count()).toBe(0);
    await shown.getByText('<img src="https://example.com/x.png"').waitFor();
    await shown.getByText('![picture](https://example.com/y.png)').waitFor();
    await shown.getByRole('cell', { name: 'sweep\\u202e' }).waitFor();
    await shown.getByText('(https://bad.example/)').waitFor();
    expect(await shown.getByRole('link').getAttribute('rel')).toBe('noopener noreferrer');
    await card.getByRole('button', { name: 'As written' }).click();
    await shown.getByText('# Clean the house').waitFor();
    await card.getByRole('button', { name: 'As Markdown' }).click();
    await card.getByRole('heading', { name: 'Clean the house' }).waitFor();
    expect(asked.filter((url) => url.includes('example.com'))).toEqual([]);
    expect(await page.title()).toBe('(1) Claude Code Bridge');
    await card.getByRole('button', { name: 'Allow once' }).click();
    await page.getByRole('link', { name: /completed Clean\./ }).click();
    await page.getByText('Done as planned.').first().waitFor();
  });

  it('a command that a person edits is run as edited, says so everywhere, and a rule that denies holds for it', async () => {
    const rules = [{ rule: 'Bash(rm *)', verdict: 'deny', reason: 'Nothing is removed.' }];
    const bridge = await startBridge({
      claude: binary,
      env: { MCP_RULES: JSON.stringify(rules) },
      script: [runs('touch asked.txt && echo made'), says('All made.')],
    });
    const page = await boardPage(bridge, await browser());
    const id = await bridge.start({ prompt: 'Touch.', path: bridge.project, permission_mode: 'cautious' });
    const card = page.getByRole('article', { name: /asks for permission/ });
    const parts = card.getByRole('list', { name: 'Commands of the line' });
    await parts.waitFor();
    expect(await parts.getByRole('listitem').allTextContents()).toEqual([
      'touch asked.txt no rule: no rule allows this command',
      'echo made no rule: no rule allows this command',
    ]);
    await card.getByRole('button', { name: 'Edit…' }).click();
    expect(await card.getByRole('button', { name: 'For this session' }).count()).toBe(0);
    const box = card.getByLabel('command, as it will be allowed');
    await box.fill('rm -f a.txt');
    await card.getByRole('button', { name: 'Allow as edited' }).click();
    await card.getByRole('alert').getByText('The rule Bash(rm *) denies').waitFor();
    await box.fill('touch edited.txt\u202e');
    await card.getByLabel('With characters that are not seen').getByText('edited.txt\\u202e').waitFor();
    await box.fill('touch edited.txt');
    await card.getByRole('button', { name: 'Allow as edited' }).click();
    await page.getByRole('link', { name: /completed Touch\./ }).click();
    await page.getByText('All made.').first().waitFor();
    await page.getByText('✓ allowed with another input').waitFor();
    await page.getByText('Answered questions (1)').click();
    const answered = page.getByRole('definition');
    expect(await answered.allTextContents()).toEqual(['touch asked.txt && echo made', 'touch edited.txt']);
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(existsSync(join(bridge.project, 'edited.txt'))).toBe(true);
    expect(existsSync(join(bridge.project, 'asked.txt'))).toBe(false);
    const edits = [{ field: 'command', asked: 'touch asked.txt && echo made', allowed: 'touch edited.txt' }];
    expect(await bridge.events(id, 'decision-closed')).toMatchObject([
      { verdict: 'allow', answered_by: 'board/chrome-1', edits },
    ]);
    expect(await bridge.call('get_task_result', { task_id: id })).toMatchObject({
      receipt: {
        commands: [{ command: 'touch edited.txt', exit_code: 0 }],
        decisions: [{ answered_by: 'board/chrome-1', edits }],
      },
    });
  });
});
