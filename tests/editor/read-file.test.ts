import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { nextEvent } from '../../src/base/event.js';
import { silentLogger } from '../../src/base/logger.js';
import { BoardConnection } from '../../vscode/src/board/board-connection.js';
import { openBoardSocket } from '../../vscode/src/board/board-socket.js';
import { fileReader } from '../../vscode/src/tasks/changes/read-file.js';
import { serveBoard } from '../board/serve-board.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const FILES = 100;

test('the texts of all files of a large change are read, although the board answers few at once', async () => {
  const board = await serveBoard(new FakeTaskService(taskRecord()), {
    patchOf: async () => ({
      state: 'patch',
      query: { repository: '/p', base: null, files: Array.from({ length: FILES }, (_, i) => `${i}.js`) },
      notes: [],
    }),
    readSide: async ({ file }) => Buffer.from(file),
  });
  const connection = new BoardConnection({
    open: () => openBoardSocket(board.link()),
    clock: systemClock,
    logger: silentLogger,
  });
  onTestFinished(() => connection.dispose());
  connection.start();
  await nextEvent(connection.onChange, () => connection.status.how === 'open');
  const read = fileReader(connection, systemClock);
  const texts = await Promise.all(
    Array.from({ length: FILES }, (_, i) => read({ taskId: TASK_ID, name: `${i}.js`, side: 'new' })),
  );
  expect(texts.map(({ text }) => text)).toEqual(Array.from({ length: FILES }, (_, i) => `${i}.js`));
});
