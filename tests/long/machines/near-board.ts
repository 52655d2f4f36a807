import { silentLogger } from '../../../src/base/logger.js';
import { systemClock } from '../../../src/base/system-clock.js';
import type { RecordingPiece } from '../../../src/board/protocol.js';
import { BoardConnection } from '../../../vscode/src/board/board-connection.js';
import { findBoard, openBoardSocket } from '../../../vscode/src/board/board-socket.js';
import { boardLink } from '../../harness/board-page.js';
import type { TestBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

/** A client of the board of this machine, which is started for it and ends with the test. */
export async function nearBoard(bridge: TestBridge): Promise<BoardConnection> {
  await boardLink(bridge);
  const { homeDir, stateDir: statePath } = bridge.workplace;
  const running = await findBoard({ configured: [], env: bridge.env, homeDir, statePath }, false);
  if (running === undefined) throw new Error('the board does not run');
  const connection = new BoardConnection({
    open: (events) => openBoardSocket(running, events, silentLogger),
    clock: systemClock,
  });
  connection.connect();
  await until('the board is open', () => connection.state.how === 'open');
  return connection;
}

/** All lines of the recording of a task, as a page of the board reads them. */
export async function recordingOf(board: BoardConnection, taskId: string): Promise<string> {
  const pieces: RecordingPiece[] = [];
  for (;;) {
    const { file, to = 0 } = pieces.at(-1) ?? {};
    const asked = { type: 'replay.read', task_id: taskId, from: to } as const;
    const { piece } = await board.do(file === undefined ? asked : { ...asked, file });
    if (piece === undefined || (piece.from === piece.to && !piece.follows)) break;
    pieces.push(piece);
  }
  return pieces.map(({ text }) => text).join('');
}
