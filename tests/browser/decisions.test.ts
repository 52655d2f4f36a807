import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { boardPage, sharedBrowser } from '../harness/board-page.js';
import { describeWith } from '../harness/needs.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { asksAboutPrompts, scriptedAgent } from '../harness/scripted-agent.js';
import { asks, runs, says } from '../harness/scripted-turns.js';
import { startBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';
import { openTask, ownTask } from './own-tasks.js';

describeWith('browser', 'a decision on the board', () => {
  const browser = sharedBrowser();

  test('is allowed by a key inside its card after that has stood for half a second, and denied at once', async () => {
    const bridge = await startBridge({
      claude: scriptedAgent,
      env: { MCP_RULES: JSON.stringify(asksAboutPrompts) },
    });
    const page = await boardPage(bridge, await browser());
    await page.getByText('No tasks yet.').waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const allowed = await ownTask(bridge, 'AGENT: split-prompt');
    const card = page.getByRole('article');
    const allow = card.getByRole('button', { name: 'Allow once' });
    const deny = card.getByRole('button', { name: 'Deny' });
    await card.waitFor();
    expect([await allow.isDisabled(), await deny.isDisabled()]).toEqual([true, false]);
    await page.clock.runFor(450);
    await until('the title counts what waits', async () =>
      expect(await page.title()).toBe('(1) Claude Code Bridge'),
    );
    await card.focus();
    await page.keyboard.press('y');
    // Else it would be on its way.
    expect(await deny.isDisabled()).toBe(false);
    await page.clock.runFor(300);
    // A word that was meant for something else answers nothing.
    await card.blur();
    await page.keyboard.type('yes yes');
    expect(await deny.isDisabled()).toBe(false);
    await card.focus();
    await page.keyboard.press('y');
    await card.waitFor({ state: 'detached' });
    expect(await bridge.end(allowed)).toMatchObject({ status: 'completed' });

    const denied = await ownTask(bridge, 'AGENT: split-prompt');
    await card.waitFor();
    // Enough for the key to be heard.
    await page.clock.runFor(100);
    expect(await allow.isDisabled()).toBe(true);
    await card.focus();
    await page.keyboard.press('n');
    await card.waitFor({ state: 'detached' });
    await page.clock.resume();
    for (const [id, verdict] of [
      [allowed, 'allow'],
      [denied, 'deny'],
    ] as const) {
      const task = await openTask(page, id);
      await task.getByText(/: .*, by board\/chrome-1/).waitFor();
      const answered = { verdict, answered_by: 'board/chrome-1' };
      expect(await bridge.events(id, 'decision-closed')).toMatchObject([answered]);
    }
  });

  describeNewestClaude('with Claude Code', ({ binary }) => {
    test('chooses an answer, or edits a command: it is run as edited, says so everywhere, and a rule that denies holds for it', async () => {
      const rules = [{ rule: 'Bash(rm *)', verdict: 'deny', reason: 'Nothing is removed.' }];
      const bridge = await startBridge({
        claude: binary,
        env: { MCP_RULES: JSON.stringify(rules) },
        script: [
          asks('Which color?', ['Red', 'Blue']),
          runs('touch asked.txt && echo made'),
          says('All made.'),
        ],
      });
      const page = await boardPage(bridge, await browser());
      const id = await bridge.start({ prompt: 'Touch.', path: bridge.project, permission_mode: 'cautious' });
      const question = page.getByRole('article', { name: /has a question/ });
      await question.getByLabel('Blue').check();
      await question.getByRole('button', { name: 'Answer' }).click();
      const card = page.getByRole('article', { name: /asks for permission/ });
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
      expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All made.' });
      expect(JSON.stringify(bridge.api.requests)).toMatch(/Which color\?\W+Blue/);
      const task = await openTask(page, id);
      await task.getByText('✓ allowed as edited: Bash(touch edited.txt)').click();
      const edited = task.getByLabel('What was edited');
      expect(await edited.innerText()).toMatch(
        /asked:\ntouch asked.txt && echo made\n.*\n.*allowed:\ntouch edited.txt/,
      );
      expect(existsSync(join(bridge.project, 'edited.txt'))).toBe(true);
      expect(existsSync(join(bridge.project, 'asked.txt'))).toBe(false);
      const edits = [
        { field: 'command', asked: 'touch asked.txt && echo made', allowed: 'touch edited.txt' },
      ];
      const byPage = { answered_by: 'board/chrome-1' };
      expect(await bridge.events(id, 'decision-closed')).toMatchObject([
        { ...byPage, verdict: 'allow' },
        { ...byPage, verdict: 'allow', edits },
      ]);
      expect(await bridge.call('get_task_result', { task_id: id })).toMatchObject({
        receipt: {
          commands: [{ command: 'touch edited.txt', exit_code: 0 }],
          decisions: [byPage, { ...byPage, edits }],
        },
      });
    });
  });
});
