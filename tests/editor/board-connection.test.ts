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
  connection.connect();
  return connection;
}

function linkTo(board: Board | undefined, events: LinkEvents, logger = silentLogger): Promise<Link> {
  if (board === undefined) throw new Error('No board runs.');
  return openBoardSocket({ port: board.port, token: 'token' }, events, logger);
}

async function becomes(connection: BoardConnection, how: string): Promise<void> {
  if (connection.state.how === how) return;
  await nextEvent(connection.onChange, () => connection.state.how === how);
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
  const late = connection.do({ ...answer, input_sha256: '0'.repeat(64) });
  await expect(late).rejects.toMatchObject({ code: 'DECISION_CLOSED' });
  await expect(late).rejects.toThrow(/has changed since it was shown\. Read it again/);
  await connection.do(answer);
  expect(tasks.answers).toEqual([{ decision_id: 'dec_1', verdict: 'allow', by: 'board/vscode-1' }]);
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
