import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import type { Board } from '../../src/board/board.js';
import type { EditorAction, PageNews } from '../../src/board/editor-page.js';
import { openBoardSocket } from '../../vscode/src/board/board-socket.js';
import { pageHtml } from '../../vscode/src/tasks/view/page-html.js';
import { PageLink } from '../../vscode/src/tasks/view/page-link.js';
import { serveBoard } from '../board/serve-board.js';
import { ManualClock } from '../harness/manual-clock.js';
import { until } from '../harness/until.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

/** A page in a view, as far as the extension sees it. */
function pageAt(boards: readonly Board[], isAsked = false) {
  const news: PageNews[] = [];
  const actions: EditorAction[] = [];
  const clock = new ManualClock();
  const left = [...boards];
  const mayStart: boolean[] = [];
  const link = new PageLink({
    open: async (may) => {
      mayStart.push(may);
      const [board] = left;
      if (board === undefined) throw new Error('No board runs.');
      return openBoardSocket(board.link());
    },
    post: (one) => news.push(one),
    onAction: (action) => actions.push(action),
    isAsked,
    clock,
    logger: silentLogger,
  });
  onTestFinished(() => link.dispose());
  const kinds = () => news.map((one) => (one.type === 'board' ? one.message.type : one.type));
  const said = (kind: string) => until(`the page says ${kind}`, () => kinds().some((one) => one === kind));
  return { link, news, actions, clock, left, mayStart, kinds, said };
}

async function board(): Promise<Board> {
  return serveBoard(new FakeTaskService(taskRecord()));
}

test('a page that has loaded gets what the board says, and its messages go to the board', async () => {
  const page = pageAt([await board()]);
  page.link.received({ type: 'connect', asked: false });
  await page.said('welcome');
  page.link.received({ type: 'board', message: { type: 'subscribe', channel: 'board:/' } });
  await page.said('snapshot');
  page.link.received({
    type: 'board',
    message: { type: 'dispatch', id: 1, action: { type: 'task.kill', task_id: TASK_ID, reason: 'seen' } },
  });
  await page.said('result');
});

test('the page cannot speak for the extension, and what it does not know it does not pass on', async () => {
  const page = pageAt([await board()]);
  page.link.received({ type: 'connect', asked: false });
  await page.said('welcome');
  const hello = { type: 'hello', v: 1, token: 'x', client: 'page' };
  for (const message of [
    { type: 'board', message: hello },
    { type: 'editor', action: { type: 'open-terminal', task_id: '../x' } },
    { type: 'editor', action: { type: 'run', command: 'workbench.action.terminal.kill' } },
    'nonsense',
  ])
    page.link.received(message);
  page.link.received({ type: 'editor', action: { type: 'open-terminal', task_id: TASK_ID } });
  expect(page.actions).toEqual([{ type: 'open-terminal', task_id: TASK_ID }]);
  page.link.received({ type: 'board', message: { type: 'subscribe', channel: 'board:/' } });
  await page.said('snapshot');
  expect(page.kinds()).toEqual(['welcome', 'snapshot']);
});

test('a board that is gone is reported with when it is tried again, and found again', async () => {
  const boards = [await board(), await board()];
  const page = pageAt(boards);
  page.link.received({ type: 'connect', asked: false });
  await page.said('welcome');
  page.left.shift();
  await boards[0]?.close();
  await page.said('lost');
  expect(page.news.at(-1)).toEqual({ type: 'lost', why: 'The board has ended.', retry_at_ms: 500 });
  page.news.length = 0;
  page.clock.advance(500);
  await page.said('welcome');
});

test('a board that cannot be opened is tried again when the person asks for it', async () => {
  const page = pageAt([]);
  page.link.received({ type: 'connect', asked: false });
  await page.said('lost');
  expect(page.news).toEqual([{ type: 'lost', why: 'No board runs.', retry_at_ms: 500 }]);
  page.left.push(await board());
  page.link.received({ type: 'connect', asked: false });
  await page.said('welcome');
});

test('a board is started once for each time that a person asks, and never because the page loads or looks again', async () => {
  const asked = async (isAsked: boolean, act: (link: PageLink) => void): Promise<readonly boolean[]> => {
    const page = pageAt([], isAsked);
    act(page.link);
    await page.said('lost');
    const tries = page.mayStart.length;
    page.clock.advance(500);
    await until('it looks again', () => page.mayStart.length > tries);
    return page.mayStart;
  };
  const load = (link: PageLink): void => link.received({ type: 'connect', asked: false });
  expect(await asked(false, load)).toEqual([false, false]);
  expect(await asked(true, load)).toEqual([true, false]);
  expect(await asked(false, (link) => link.received({ type: 'connect', asked: true }))).toEqual([
    true,
    false,
  ]);
  const shown = pageAt([]);
  load(shown.link);
  await shown.said('lost');
  shown.link.show(undefined);
  expect(shown.mayStart).toEqual([false, true]);
});

test('a board that takes no more pages says so', async () => {
  const one = await board();
  const pages = Array.from({ length: 16 }, () => pageAt([one]));
  for (const page of pages) {
    page.link.received({ type: 'connect', asked: false });
    await page.said('welcome');
  }
  const beyond = pageAt([one]);
  beyond.link.received({ type: 'connect', asked: false });
  await beyond.said('lost');
  expect(beyond.news.at(-1)).toMatchObject({ why: expect.stringContaining('close one') as string });
});

test('a task that is asked for before the page is there is shown when it has loaded', async () => {
  const page = pageAt([]);
  page.link.show(TASK_ID);
  expect(page.news).toEqual([]);
  page.link.received({ type: 'connect', asked: false });
  expect(page.news).toEqual([{ type: 'show', task_id: TASK_ID }]);
  page.link.show(undefined);
  expect(page.news.at(-1)).toEqual({ type: 'show', task_id: null });
});

test('the page loads its own script and style, and nothing else', () => {
  const html = pageHtml({
    source: 'https://editor.example',
    folder: 'https://editor.example/web',
    nonce: 'n',
  });
  expect(html).toContain(
    `content="default-src 'none'; script-src https://editor.example; style-src https://editor.example 'nonce-n'; img-src https://editor.example data:; base-uri 'none'; form-action 'none'"`,
  );
  expect(html).toContain('<script type="module" src="https://editor.example/web/page.js"></script>');
});
