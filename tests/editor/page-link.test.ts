import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import type { Board } from '../../src/board/board.js';
import type { EditorAction, PageNews } from '../../src/board/editor-page.js';
import { BoardConnection } from '../../vscode/src/board/board-connection.js';
import { openBoardSocket } from '../../vscode/src/board/board-socket.js';
import { pageHtml, PageLink } from '../../vscode/src/tasks/view/page-link.js';
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
  const board = new BoardConnection({
    open: async (events, _isWanted, may) => {
      mayStart.push(may);
      const [first] = left;
      return first && openBoardSocket({ port: first.port, token: 'token' }, events, silentLogger);
    },
    clock,
  });
  board.connect();
  const link = new PageLink({
    board,
    post: (one) => news.push(one),
    onAction: (action) => actions.push(action),
    logger: silentLogger,
  });
  link.unload(isAsked);
  onTestFinished(() => {
    link.dispose();
    board.dispose();
  });
  const kinds = () => news.map((one) => (one.type === 'board' ? one.message.type : one.type));
  const said = (kind: string) => until(`the page says ${kind}`, () => kinds().some((one) => one === kind));
  const connects = (asked = false): void => link.received({ type: 'connect', asked });
  const opens = (): Promise<true> => until('the board is reached', () => board.state.how === 'open');
  return { board, link, news, actions, clock, left, mayStart, kinds, said, connects, opens };
}

async function board(tasks = new FakeTaskService(taskRecord())): Promise<Board> {
  return serveBoard(tasks);
}

test('a page that has loaded gets what the board says, and its messages go to the board', async () => {
  const tasks = new FakeTaskService(taskRecord());
  const page = pageAt([await board(tasks)]);
  await page.opens();
  page.connects();
  expect(page.kinds()).toEqual(['welcome']);
  page.link.received({ type: 'board', message: { type: 'subscribe', channel: 'board:/' } });
  await page.said('values');
  page.news.length = 0;
  tasks.change(TASK_ID, { activity: 'Edit(a.js)' });
  await page.said('values');
  expect(page.news[0]).toMatchObject({ message: { whole: false, set: { [`task/${TASK_ID}`]: {} } } });
  page.link.received({
    type: 'board',
    message: { type: 'dispatch', id: 1, action: { type: 'task.kill', task_id: TASK_ID, reason: 'seen' } },
  });
  await page.said('result');
});

test('the page cannot speak for the extension, and what it does not know it does not pass on', async () => {
  const page = pageAt([await board()]);
  await page.opens();
  page.connects();
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
  await page.said('values');
  expect(page.kinds()).toEqual(['welcome', 'values']);
});

test('a board is started once for each time that a person asks, and never because the page loads or looks again', async () => {
  const starts = async (
    isAsked: boolean,
    act: (page: ReturnType<typeof pageAt>) => void,
  ): Promise<number> => {
    const page = pageAt([], isAsked);
    await until('it has looked', () => page.clock.timerCount > 0);
    act(page);
    await page.said('lost');
    page.clock.advance(5_000);
    await until('it has looked again', () => page.clock.timerCount > 0);
    return page.mayStart.filter(Boolean).length;
  };
  expect(await starts(false, (page) => page.connects())).toBe(0);
  expect(await starts(true, (page) => page.connects())).toBe(1);
  expect(await starts(false, (page) => page.connects(true))).toBe(1);
  const shown = (page: ReturnType<typeof pageAt>): void => {
    page.connects();
    page.link.show(undefined);
  };
  expect(await starts(false, shown)).toBe(1);
});

test('a task that is asked for before the page is there is shown when it has loaded', () => {
  const page = pageAt([]);
  page.link.show(TASK_ID);
  expect(page.news).toEqual([]);
  page.connects();
  expect(page.news.filter(({ type }) => type === 'show')).toEqual([{ type: 'show', task_id: TASK_ID }]);
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

test('an answer has the number that the page gave it, also after the window itself has acted', async () => {
  const page = pageAt([await board()]);
  await page.opens();
  page.connects();
  const action = { type: 'task.kill', task_id: TASK_ID, reason: 'seen' } as const;
  await page.board.act(action);
  page.link.received({ type: 'board', message: { type: 'dispatch', id: 1, action } });
  await page.said('result');
  expect(page.news).toContainEqual({
    type: 'board',
    message: expect.objectContaining({ type: 'result', id: 1 }) as unknown,
  });
});
