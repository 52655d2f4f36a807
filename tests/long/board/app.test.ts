import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { violationsIn } from '../../harness/barriers.js';
import { boardLink, overflowOf, sharedBrowser } from '../../harness/board-page.js';
import { ChatPage } from '../../harness/chat-page.js';
import { describeWith } from '../../harness/needs.js';
import { asksEnv, quickAgent, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

const browser = sharedBrowser();
const BOARD = 'ui://claude-code-bridge/board.html';
const DECISION = 'ui://claude-code-bridge/decision.html';
const MAX_PAGE_BYTES = 90_000;
const question = 'AGENT: split-prompt';

async function askingBridge(): Promise<TestBridge> {
  return startBridge({ claude: scriptedAgent, env: asksEnv });
}

/** A bridge whose agent is quick and asks nothing. */
async function quickBridge(): Promise<TestBridge> {
  return startBridge({ claude: quickAgent });
}

/** A chat that shows one of the pages, connected. */
async function shown(
  bridge: TestBridge,
  uri: string,
  options: Parameters<ChatPage['show']>[1] = {},
): Promise<ChatPage> {
  const chat = await ChatPage.open(bridge, await browser());
  await chat.show(uri, options);
  return chat;
}

async function reads(chat: ChatPage): Promise<number> {
  return (await chat.seen()).calls.filter(({ name }) => name === 'board_read').length;
}

/** Until the page waits for news: its last read begins after what it has. */
async function untilItWaits(chat: ChatPage): Promise<void> {
  const isWaiting = async (): Promise<boolean> => {
    const last = (await chat.seen()).calls.findLast(({ name }) => name === 'board_read');
    return JSON.stringify(last?.args).includes('"after"');
  };
  await expect.poll(isWaiting).toBe(true);
}

it('each page is one file of at most 90 KB', async () => {
  for (const name of ['board-app.html', 'decision-app.html']) {
    const { size } = await stat(fileURLToPath(new URL(`../../../dist/web/${name}`, import.meta.url)));
    expect(size, name).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  }
});

describeWith('browser', 'the pages in a chat', () => {
  describe('the board in the chat', () => {
    it('greets its client and shows each question; the card of a call shows its own, takes the answer while the model waits, tells it, and reads no more', async () => {
      const bridge = await startBridge({ claude: scriptedAgent, env: asksEnv, projects: ['one', 'two'] });
      const [one = '', two = ''] = bridge.projects;
      const chat = await ChatPage.open(bridge, await browser());
      const board = await chat.show('ui://claude-code-bridge/board.html');
      expect(board).toMatchObject({ name: 'claude-code-bridge-board' });
      await chat.app.getByText('No tasks yet.').waitFor();
      const taskId = await bridge.start({ prompt: 'AGENT: split-prompt', path: one });
      const other = await bridge.start({ prompt: 'AGENT: split-prompt again', path: two });
      await chat.app.getByRole('article').nth(1).waitFor();

      await bridge.decision(taskId);
      const { cursor } = await bridge.call('wait_for_task', { task_ids: [taskId] });
      await chat.show('ui://claude-code-bridge/decision.html');
      const args = { task_ids: [taskId], cursor };
      const waited = chat.does('call', 'wait_for_task', args);
      await chat.does('input', args);
      await chat.app.getByRole('article').waitFor();
      expect(await chat.app.getByRole('article').count()).toBe(1);
      await chat.app.getByRole('button', { name: 'Allow once' }).click();
      await chat.app.getByText('Do you want to proceed? [y/N]: You allowed it.').waitFor();
      // The answer woke the model.
      const result = await waited;
      expect(JSON.stringify(result)).toContain('"changed":true');
      await chat.does('result', result);
      const { told, calls } = await chat.seen();
      expect(told).toEqual([
        expect.stringContaining(`They allowed, once, dec_1 ("Do you want to proceed? [y/N]") of ${taskId}`),
      ]);
      expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(['board_read', 'board_act']));
      expect(await bridge.end(taskId)).toMatchObject({ status: 'completed' });
      const byChat = { verdict: 'allow', answered_by: 'board/chat-chat-for-tests' };
      expect(await bridge.events(taskId, 'decision-closed')).toMatchObject([byChat]);
      const before = await reads(chat);
      await bridge.call('kill_task', { task_id: other });
      expect(await reads(chat)).toBe(before);
    });

    it('has the theme of its client, also when that changes, and no barriers in either', async () => {
      const bridge = await askingBridge();
      const taskId = await bridge.start({ prompt: question });
      const chat = await shown(bridge, BOARD, { context: { theme: 'dark' } });
      await expect.poll(() => chat.app.getByRole('button', { name: 'Allow once' }).isEnabled()).toBe(true);
      const backgrounds = new Set<unknown>();
      for (const theme of ['light', 'dark']) {
        await chat.does('context', { theme });
        await chat.app.locator(`html[data-theme=${theme}]`).waitFor();
        backgrounds.add(await chat.frame.evaluate('getComputedStyle(document.body).backgroundColor'));
        const violations = await violationsIn(chat.page);
        expect(
          violations.filter(({ nodes }) => nodes.some(({ target }) => target.length > 1)).map(({ id }) => id),
        ).toEqual([]);
      }
      expect(backgrounds).toEqual(new Set(['rgb(251, 251, 250)', 'rgb(22, 22, 20)']));
      await bridge.call('kill_task', { task_id: taskId });
    });

    it('says how high it is as it grows, and is no wider than a phone', async () => {
      const bridge = await askingBridge();
      const chat = await shown(bridge, BOARD);
      await chat.page.setViewportSize({ width: 360, height: 700 });
      await chat.app.getByText('No tasks yet.').waitFor();
      await expect.poll(async () => (await chat.seen()).sizes.at(-1)?.height).toBeGreaterThan(100);
      const before = (await chat.seen()).sizes.at(-1)?.height ?? 0;
      const taskId = await bridge.start({ prompt: question });
      await chat.app.getByRole('article').waitFor();
      await expect.poll(async () => (await chat.seen()).sizes.at(-1)?.height).toBeGreaterThan(before);
      const { sizes } = await chat.seen();
      expect(new Set(sizes.map((size) => JSON.stringify(size))).size).toBeGreaterThan(1);
      for (const [at, size] of sizes.entries()) expect(size).not.toEqual(sizes[at - 1]);
      expect(await overflowOf(chat.frame)).toBeLessThanOrEqual(0);
      await bridge.call('kill_task', { task_id: taskId });
    });

    it('opens a task of its list in a browser', async () => {
      const bridge = await quickBridge();
      const taskId = await bridge.start({ prompt: 'AGENT: never-exits' });
      const chat = await shown(bridge, BOARD);
      await chat.app.getByRole('link', { name: /never-exits/ }).click();
      await expect.poll(async () => (await chat.seen()).links).toHaveLength(1);
      const [link = ''] = (await chat.seen()).links;
      expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/#code=[\\w-]+&task=${taskId}$`));
      const page = await (await browser()).newPage();
      await page.goto(link);
      await page.getByRole('tab', { name: 'Terminal' }).waitFor();
      expect(page.url()).toContain(`#/${taskId}`);
      expect(page.url()).not.toContain('code=');
      await page.close();
      await bridge.call('kill_task', { task_id: taskId });
    });
  });

  it('needs no board of its own', async () => {
    const bridge = await quickBridge();
    const chat = await shown(bridge, BOARD);
    const taskId = await bridge.start({ prompt: 'AGENT: exit 0' });
    await chat.app.getByRole('link', { name: /AGENT: exit 0/ }).waitFor();
    await expect.poll(async () => (await bridge.status(taskId)).status).toBe('completed');
    await chat.app.getByRole('link', { name: /completed AGENT: exit 0/ }).waitFor();
    await expect(readFile(join(bridge.workplace.stateDir, 'board', 'board.json'))).rejects.toThrow('ENOENT');
  });

  describe('nothing is read while nobody looks', () => {
    /** The page goes away, and reads nothing of a task that ends meanwhile. */
    async function gone(goesAway: (chat: ChatPage) => Promise<unknown>): Promise<ChatPage> {
      const bridge = await quickBridge();
      const chat = await shown(bridge, BOARD);
      await untilItWaits(chat);
      const { cancelled } = await chat.seen();
      await goesAway(chat);
      await until('it takes its read back', async () => (await chat.seen()).cancelled > cancelled);
      const before = await reads(chat);
      expect(await bridge.end(await bridge.agent('exit 0'))).toMatchObject({ status: 'completed' });
      expect(await reads(chat)).toBe(before);
      return chat;
    }

    const turn = (chat: ChatPage, state: string): Promise<unknown> =>
      chat.frame.evaluate(
        `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' }); document.dispatchEvent(new Event('visibilitychange'));`,
      );

    it.each([
      { where: 'is scrolled away', go: (chat: ChatPage, away: boolean) => chat.does('scrollAway', away) },
      {
        where: 'is in a hidden tab',
        go: (chat: ChatPage, away: boolean) => turn(chat, away ? 'hidden' : 'visible'),
      },
    ])('a page that $where reads nothing, and shows what it missed when it is seen again', async ({ go }) => {
      const chat = await gone((one) => go(one, true));
      await go(chat, false);
      await chat.app.getByRole('link', { name: /completed AGENT: exit 0/ }).waitFor();
    });

    it('a page that is taken away answers its client and reads nothing any more', async () => {
      const chat = await gone(async (one) => expect(await one.does('teardown')).toEqual({}));
      const before = await reads(chat);
      for (const away of [true, false]) await chat.does('scrollAway', away);
      expect(await reads(chat)).toBe(before);
    });
  });

  describe('a client that refuses', () => {
    it('reading: the page says so, asks no more by itself, and reads when a person tries again', async () => {
      const bridge = await quickBridge();
      const chat = await shown(bridge, BOARD, { deny: ['board_read'] });
      await chat.app.getByText('does not let this page read your tasks: The user said no.').waitFor();
      expect(await reads(chat)).toBe(1);
      await chat.app.getByRole('button', { name: 'Try again' }).click();
      await expect.poll(() => reads(chat)).toBe(2);
      await chat.app.getByRole('button', { name: 'Try again' }).waitFor();
      await chat.does('allow');
      await chat.app.getByRole('button', { name: 'Try again' }).click();
      await chat.app.getByText('No tasks yet.').waitFor();
    });

    it('an answer: the page shows it, and the question stays', async () => {
      const bridge = await askingBridge();
      const taskId = await bridge.start({ prompt: question });
      const chat = await shown(bridge, BOARD, { deny: ['board_act', 'context'] });
      await chat.app.getByRole('button', { name: 'Allow once' }).click();
      await chat.app.getByRole('alert').getByText('The user said no.').waitFor();
      expect(await bridge.status(taskId)).toMatchObject({ status: 'waiting' });
      await chat.does('allow');
      await chat.app.getByRole('button', { name: 'Allow once' }).click();
      await chat.app.getByRole('article').waitFor({ state: 'detached' });
      await until('the end is reported to its model', async () =>
        expect((await chat.seen()).told).toHaveLength(1),
      );
    });
  });

  describe('the card of a call', () => {
    it('says when another way answered, and reads nothing for an answer in which nothing is asked', async () => {
      const bridge = await askingBridge();
      const taskId = await bridge.start({ prompt: question });
      const { decision_id } = await bridge.decision(taskId);
      const chat = await shown(bridge, DECISION);
      await chat.does('input', { task_ids: [taskId] });
      await chat.app.getByRole('article').waitFor();
      await bridge.call('respond_to_task', { task_id: taskId, decision_id, verdict: 'allow' });
      await chat.app.getByText('It was answered elsewhere, or its time was over.').waitFor();
      await expect.poll(async () => (await bridge.status(taskId)).status).toBe('completed');
      const old = await shown(bridge, DECISION);
      const result = await old.does('call', 'wait_for_task', { task_ids: [taskId] });
      await old.does('input', { task_ids: [taskId] });
      await old.does('result', result);
      await old.app.getByText(taskId).waitFor();
      expect(await old.does('teardown')).toEqual({});
      expect(await reads(old)).toBe(0);
    });
  });

  describe('what a page may do', () => {
    it('runs no script but its own, makes no HTML of text, and reaches no address', async () => {
      const bridge = await quickBridge();
      const prompt = 'AGENT: exit 0 <img src=x onerror="document.title=1"><b>bold</b> \u202egpj';
      const { port } = new URL(await boardLink(bridge));
      const chat = await ChatPage.open(bridge, await browser(), /Content Security Policy|requires 'Trusted/);
      await chat.show(BOARD);
      const taskId = await bridge.start({ prompt });
      const row = chat.app.getByRole('link', { name: /AGENT: exit 0/ });
      await row.waitFor();
      expect(await row.textContent()).toContain('<b>bold</b> \\u202egpj');
      expect(await chat.app.locator('img, b').count()).toBe(0);
      const tried = (script: string): Promise<unknown> =>
        chat.frame.evaluate(`(async () => { try { ${script} } catch (error) { return error.name; } })()`);
      expect(await tried("document.body.innerHTML = '<b>x</b>'; return 'done';")).toBe('TypeError');
      expect(await tried(`await fetch('http://127.0.0.1:${port}/'); return 'done';`)).toBe('TypeError');
      expect(
        await tried(
          `return await new Promise((resolve) => { const socket = new WebSocket('ws://127.0.0.1:${port}/socket'); socket.onopen = () => resolve('open'); socket.onerror = () => resolve('refused'); });`,
        ),
      ).toMatch(/refused|SecurityError/);
      expect(
        await tried(
          "const script = document.createElement('script'); script.textContent = 'window.ran = true'; document.head.append(script); return String(window.ran);",
        ),
      ).toMatch(/TypeError|undefined/);
      await expect.poll(async () => (await bridge.status(taskId)).status).toBe('failed');
    });

    it('hears its client alone', async () => {
      const bridge = await quickBridge();
      const chat = await shown(bridge, BOARD, { context: { theme: 'light' } });
      await chat.app.getByText('No tasks yet.').waitFor();
      // From the window itself, which is not the one around it.
      await chat.frame.evaluate(
        "postMessage({ jsonrpc: '2.0', method: 'ui/notifications/host-context-changed', params: { theme: 'dark' } }, '*'); new Promise((resolve) => setTimeout(resolve, 0))",
      );
      expect(await chat.frame.evaluate('document.documentElement.dataset.theme')).toBe('light');
    });
  });
});
