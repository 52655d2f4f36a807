import { expect, it } from 'vitest';
import { boardPage, sharedBrowser } from '../harness/board-page.js';
import { planTurns } from '../harness/plan-turns.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { says } from '../harness/scripted-turns.js';
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
    await page.getByText('Done as planned.').first().waitFor();
  });
});
