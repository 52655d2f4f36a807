import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { WebSocket } from 'ws';
import { systemClock } from '../../src/base/system-clock.js';
import { nextEvent } from '../../src/base/event.js';
import { silentLogger } from '../../src/base/logger.js';
import type { Board } from '../../src/board/board.js';
import { inputHash } from '../../src/board/task-views.js';
import { BoardConnection, type BoardConnectionOptions } from '../../vscode/src/board/board-connection.js';
import { openBoardSocket } from '../../vscode/src/board/board-socket.js';
import { deferred } from '../../vscode/src/deferred.js';
import { serveBoard } from '../board/serve-board.js';
import { ManualClock } from '../harness/manual-clock.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const decision = sampleDecision();

function waitingTask(): FakeTaskService {
  return new FakeTaskService(taskRecord({ status: 'waiting', decisions: [decision] }));
}

function connectionTo(changes: Partial<BoardConnectionOptions>): BoardConnection {
  const connection = new BoardConnection({
    open: async () => undefined,
    clock: systemClock,
    logger: silentLogger,
    ...changes,
  });
  onTestFinished(() => connection.dispose());
  connection.start();
  return connection;
}

async function until(connection: BoardConnection, how: string): Promise<void> {
  if (connection.status.how === how) return;
  await nextEvent(connection.onChange, () => connection.status.how === how);
}

const answer = {
  type: 'decision.answer',
  task_id: TASK_ID,
  decision_id: 'dec_1',
  input_sha256: inputHash(decision),
  verdict: 'allow',
} as const;

test('an answer is given in the name of the window', async () => {
  const tasks = waitingTask();
  const board = await serveBoard(tasks);
  const connection = connectionTo({ open: () => openBoardSocket(board.link()) });
  await until(connection, 'open');
  expect(connection.client).toBe('vscode-1');
  await connection.act(answer);
  expect(tasks.answers).toEqual([{ decision_id: 'dec_1', verdict: 'allow', by: 'board/vscode-1' }]);
});

test('what the board refuses is thrown with what to do', async () => {
  const board = await serveBoard(waitingTask());
  const connection = connectionTo({ open: () => openBoardSocket(board.link()) });
  await until(connection, 'open');
  const late = connection.act({ ...answer, input_sha256: '0'.repeat(64) });
  await expect(late).rejects.toMatchObject({ code: 'DECISION_CLOSED' });
  await expect(late).rejects.toThrow(/has changed since it was shown\. Read it again/);
});

test('a board that ends is looked for again, and what waits for an answer fails at once', async () => {
  const tasks = waitingTask();
  let never = (): void => undefined;
  tasks.respond = () => new Promise<never>((_resolve, reject) => (never = () => reject(new Error('over'))));
  const boards: Board[] = [await serveBoard(tasks), await serveBoard(waitingTask())];
  const clock = new ManualClock();
  const connection = connectionTo({
    clock,
    open: () => openBoardSocket(boards[0]?.link() ?? { url: '', port: 0, board_id: '', version: '' }),
  });
  await until(connection, 'open');
  const waiting = connection.act(answer);
  await boards.shift()?.close();
  await expect(waiting).rejects.toThrow('The board is not connected.');
  never();
  await until(connection, 'lost');
  await expect(connection.act(answer)).rejects.toThrow('then try once more');
  clock.advance(500);
  await until(connection, 'open');
  await connection.act(answer);
});

test('a channel that is followed is followed at the next board, too, and one that cannot be opened says why', async () => {
  const boards: Board[] = [await serveBoard(waitingTask()), await serveBoard(waitingTask())];
  const clock = new ManualClock();
  const connection = connectionTo({
    clock,
    open: () => openBoardSocket(boards[0]?.link() ?? { url: '', port: 0, board_id: '', version: '' }),
  });
  const seen: string[] = [];
  const arrived = (): Promise<void> => expect.poll(() => seen.length, { timeout: 10_000 }).toBeGreaterThan(0);
  connection.follow<{ readonly why: string | null }, never>(`diff:/${TASK_ID}`, {
    reduce: (state) => state,
    changed: ({ why }) => seen.push(why ?? ''),
  });
  const refused = new Promise<Error>((resolve) =>
    connection.follow<unknown, never>('task:/task_ffffffffffffffffffff', {
      reduce: (state) => state,
      changed: () => undefined,
      refused: resolve,
    }),
  );
  await arrived();
  expect((await refused).message).toMatch(/task_ffffffffffffffffffff/);
  expect(seen.splice(0)).toEqual(['The task changed nothing.']);
  await boards.shift()?.close();
  await until(connection, 'lost');
  clock.advance(500);
  await arrived();
  expect(seen).toEqual(['The task changed nothing.']);
});

test('where no board runs it looks again after a while, and starts one only when a person wants it, once', async () => {
  const board = await serveBoard(waitingTask());
  const clock = new ManualClock();
  const asked: boolean[] = [];
  const connection = connectionTo({
    clock,
    open: async (_isWanted, mayStart) => {
      asked.push(mayStart);
      return mayStart ? openBoardSocket(board.link()) : undefined;
    },
  });
  await until(connection, 'off');
  clock.advance(5_000);
  expect(asked).toEqual([false, false]);
  await until(connection, 'off');
  await expect.poll(() => clock.timerCount).toBe(1);
  connection.want();
  await until(connection, 'open');
  await board.close();
  await until(connection, 'lost');
  clock.advance(500);
  expect(asked).toEqual([false, false, true, false]);
});

test('a board that was being opened for other settings is not used', async () => {
  const board = await serveBoard(waitingTask());
  const clock = new ManualClock();
  const first = deferred<WebSocket>();
  const opening = [() => first.promise, () => openBoardSocket(board.link())];
  const connection = connectionTo({ clock, open: () => opening.shift()?.() ?? Promise.reject(new Error()) });
  connection.reconnect();
  const outdated = await openBoardSocket(board.link());
  first.resolve(outdated);
  await once(outdated, 'close');
  clock.advance(0);
  await until(connection, 'open');
  expect(opening).toEqual([]);
});

test('a person who wants the board while it is looked for does not wait for the next look', async () => {
  const board = await serveBoard(waitingTask());
  const clock = new ManualClock();
  const first = deferred<undefined>();
  const connection = connectionTo({
    clock,
    open: (_isWanted, mayStart) => (mayStart ? openBoardSocket(board.link()) : first.promise),
  });
  connection.want();
  first.resolve(undefined);
  await until(connection, 'off');
  await expect.poll(() => clock.timerCount).toBe(1);
  clock.advance(0);
  await until(connection, 'open');
});

test('a board that does not answer is given up', async () => {
  const silent = createServer((request, response) => {
    if (request.url === '/token') response.end(JSON.stringify({ token: 'x' }));
  });
  // What it is asked beyond that stays without an answer.
  silent.on('upgrade', (_request, socket) => void onTestFinished(() => void socket.destroy()));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const link = { url: `http://127.0.0.1:${port}/#code=x`, port, board_id: '', version: '' };
  await expect(openBoardSocket(link, 200)).rejects.toThrow('Opening handshake has timed out');
});

test('a follower that fails is reported, and the others get what comes later', async () => {
  const tasks = waitingTask();
  const board = await serveBoard(tasks);
  const failures: unknown[] = [];
  const connection = connectionTo({
    open: () => openBoardSocket(board.link()),
    logger: { ...silentLogger, error: (_what, fields) => void failures.push(fields?.['error']) },
  });
  const failed = new Error('cannot be shown');
  connection.follow(`diff:/${TASK_ID}`, {
    reduce: (state: unknown) => state,
    changed: () => {
      throw failed;
    },
  });
  await until(connection, 'open');
  await expect.poll(() => failures).toEqual([failed]);
  await connection.act(answer);
});

test('a board that cannot be started is reported, and tried less and less often', async () => {
  const clock = new ManualClock();
  let tries = 0;
  const connection = connectionTo({
    clock,
    open: () => Promise.reject(new Error(`try ${++tries}`)),
  });
  await until(connection, 'lost');
  expect(connection.status).toEqual({ how: 'lost', why: 'try 1' });
  for (const waitMs of [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    await expect.poll(() => clock.timerCount).toBe(1);
    const before = tries;
    clock.advance(waitMs - 1);
    expect(tries).toBe(before);
    clock.advance(1);
    expect(tries).toBe(before + 1);
  }
});
