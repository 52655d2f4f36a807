import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { planTurns } from '../../harness/plan-turns.js';
import { gitIn } from '../../harness/project-files.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

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

describeWith('browser', 'plans, rules and comments on the board', () => {
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
      await bridge.start({ prompt: 'Clean.', permission_mode: 'cautious' });
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
      await card.getByRole('button', { name: 'Approve the plan' }).click();
      await page.getByRole('link', { name: /completed Clean\./ }).click();
      await page.getByText('Done as planned.').first().waitFor();
    });

    it('a rule is shown and written only on a yes, and a server that starts then does not ask', async () => {
      const command = 'git init -q --bare made.git';
      const bridge = await startBridge({
        claude: binary,
        script: [runs(command), says('All made.'), runs(command), says('Made again.')],
      });
      const page = await boardPage(bridge, await browser());
      const start = { prompt: 'Make it.', path: bridge.project, permission_mode: 'cautious' } as const;
      const first = await bridge.start(start);
      const card = page.getByRole('article', { name: /asks for permission/ });
      await card.waitFor();
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 60_000);
      await card.getByRole('button', { name: 'Always…' }).click();
      const always = card.getByRole('region', { name: 'Always' });
      // The part is loaded before its effects can run.
      await always.waitFor();
      await page.clock.runFor(100);
      const settings = always.getByLabel('As it would stand in the settings');
      await settings.getByText(`"rule": "Bash(${command})"`).waitFor();
      const write = always.getByRole('button', { name: 'Write the rule and allow once' });
      await page.clock.runFor(450);
      expect(await write.isDisabled()).toBe(true);
      await page.clock.runFor(300);
      await expect.poll(() => write.isDisabled()).toBe(false);
      await page.clock.resume();
      const file = join(bridge.workplace.homeDir, '.config', 'mcp-claude-bridge', 'config.json');
      await always.getByText(file, { exact: true }).waitFor();
      await always.getByText('What runs now keeps its rules.').waitFor();
      expect(existsSync(file)).toBe(false);
      await write.click();
      expect(await bridge.end(first)).toMatchObject({ status: 'completed' });
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
        rules: [{ rule: `Bash(${command})`, verdict: 'allow' }],
      });
      const [answered] = await bridge.events(first, 'decision-closed');
      expect(answered).toMatchObject({ verdict: 'allow', answered_by: 'board/chrome-1' });
      const restarted = await bridge.another();
      const second = await restarted.start(start);
      expect(await restarted.end(second)).toMatchObject({ status: 'completed', last_output: 'Made again.' });
      expect(await bridge.events(second, 'decision-closed')).toEqual([]);
    });

    it('comments on a task that has ended are what one that goes on with them begins with', async () => {
      const bridge = await startBridge({
        claude: binary,
        script: [runs("echo 'let total = 0;' > sum.js"), says('Written.'), says('Looked at again.')],
      });
      gitIn(bridge.project, 'init', '-q');
      const page = await boardPage(bridge, await browser());
      const taskId = await bridge.start({ prompt: 'Sum it up.' });
      await bridge.end(taskId);
      await page.getByRole('link', { name: /completed Sum it up/ }).click();
      await page.getByRole('tab', { name: 'Changes' }).click();
      await page.getByRole('button', { name: 'Comment on line 1 of sum.js' }).click();
      await page.getByLabel('Comment', { exact: true }).fill('Is it needed?');
      await page.getByRole('button', { name: 'Add comment' }).click();
      await page.getByRole('button', { name: 'Start a task that continues with them' }).click();
      await page.getByRole('main').getByText('Looked at again.').first().waitFor();
      expect(bridge.api.requests.at(-1)?.userText).toContain('> let total = 0;\nIs it needed?');
      const { tasks } = await bridge.call('list_tasks', {});
      expect(tasks).toHaveLength(2);
    });
  });
});
