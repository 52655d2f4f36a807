import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { nextEvent } from '../../src/base/lifecycle.js';
import { silentLogger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/system-clock.js';
import type { Link, LinkEvents } from '../../src/board/client.js';
import type { Board } from '../../src/board/board.js';
import { inputHash } from '../../src/board/task-views.js';
import { BoardConnection, type BoardConnectionOptions } from '../../vscode/src/board/board-connection.js';
import { openBoardSocket } from '../../vscode/src/board/board-socket.js';
import { serveBoard } from '../board/serve-board.js';
import { ManualClock } from '../harness/manual-clock.js';
import { until } from '../harness/until.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const decision = sampleDecision();
const noEvents: LinkEvents = { message: () => undefined, frame: () => undefined, closed: () => undefined };

function waitingTask(): FakeTaskService {
  return new FakeTaskService(taskRecord({ status: 'waiting', decisions: [decision] }));
}

function connectionTo(changes: Partial<BoardConnectionOptions>): BoardConnection {
  const connection = new BoardConnection({ open: async () => undefined, clock: systemClock, ...changes });
  onTestFinished(() => connection.dispose());
  connection.start();
  return connection;
}

function linkTo(board: Board | undefined, events: LinkEvents, logger = silentLogger): Promise<Link> {
  if (board === undefined) throw new Error('No board runs.');
  return openBoardSocket({ port: board.port, token: 'token' }, events, logger);
}

async function becomes(connection: BoardConnection, how: string): Promise<void> {
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

test('an answer is given in the name of the window, and what the board refuses is thrown with what to do', async () => {
  const tasks = waitingTask();
  const board = await serveBoard(tasks);
  const connection = connectionTo({ open: (events) => linkTo(board, events) });
  await becomes(connection, 'open');
  expect(connection.welcome).toMatchObject({ client: 'vscode-1' });
  const late = connection.act({ ...answer, input_sha256: '0'.repeat(64) });
  await expect(late).rejects.toMatchObject({ code: 'DECISION_CLOSED' });
  await expect(late).rejects.toThrow(/has changed since it was shown\. Read it again/);
  await connection.act(answer);
  expect(tasks.answers).toEqual([{ decision_id: 'dec_1', verdict: 'allow', by: 'board/vscode-1' }]);
});

test('where no board runs it looks again after a while, and starts one only when a person wants it, once', async () => {
  const board = await serveBoard(waitingTask());
  const clock = new ManualClock();
  const asked: boolean[] = [];
  const connection = connectionTo({
    clock,
    open: async (events, _isWanted, mayStart) => {
      asked.push(mayStart);
      return mayStart ? linkTo(board, events) : undefined;
    },
  });
  await becomes(connection, 'off');
  clock.advance(5_000);
  await until('it has looked', () => clock.timerCount === 1);
  expect(asked).toEqual([false, false]);
  connection.want();
  await becomes(connection, 'open');
  await board.close();
  await becomes(connection, 'lost');
  clock.advance(500);
  expect(asked).toEqual([false, false, true, false]);
});

test('a board that does not answer is given up', async () => {
  const silent = createServer();
  silent.on('upgrade', (_request, socket) => void onTestFinished(() => void socket.destroy()));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(openBoardSocket({ port, token: 'x' }, noEvents, silentLogger, 200)).rejects.toThrow(
    'Opening handshake has timed out',
  );
});

test('a follower that fails is reported, and the others get what comes later', async () => {
  const board = await serveBoard(waitingTask());
  const failures: unknown[] = [];
  const logger = {
    ...silentLogger,
    error: (_what: string, fields?: Readonly<Record<string, unknown>>) =>
      void failures.push(fields?.['error']),
  };
  const connection = connectionTo({ open: (events) => linkTo(board, events, logger) });
  const failed = new Error('cannot be shown');
  connection.follow(`diff:/${TASK_ID}`, {
    changed: () => {
      throw failed;
    },
  });
  await until('it is reported', () => expect(failures).toEqual([failed]));
  await connection.act(answer);
});
