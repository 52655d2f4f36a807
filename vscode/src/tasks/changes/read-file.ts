import type { Clock } from '../../../../src/base/clock.js';
import { Slots } from '../../../../src/base/slots.js';
import type { FileText } from '../../../../src/board/protocol.js';
import { BoardRefusal, type BoardConnection } from '../../board/board-connection.js';
import type { TaskDocument } from './document-uri.js';

/** A board may have to be started first. */
const CONNECT_LIMIT_MS = 30_000;
const MAX_READING = 8;
const noAbort = new AbortController().signal;

type ReadableBoard = Pick<BoardConnection, 'status' | 'onChange' | 'act'>;

/** The text of one side of a file. Throws BoardRefusal. */
export type ReadFile = (document: Omit<TaskDocument, 'file'>) => Promise<FileText>;

/** The editor asks for the texts of many files at once; the board refuses a page that does, so some wait here. */
export function fileReader(board: ReadableBoard, clock: Clock): ReadFile {
  const slots = new Slots(MAX_READING);
  return async ({ taskId, name, side }) => {
    const slot = await slots.take(noAbort);
    try {
      await connected(board, clock);
      const { file } = await board.act({ type: 'file.read', task_id: taskId, file: name, side });
      if (file !== undefined) return file;
      throw new BoardRefusal({ code: 'INTERNAL_ERROR', message: 'The board gave no text.', hint: '' });
    } finally {
      slot.dispose();
    }
  };
}

/** Waits for the board. Rejects with why it is not there after 30 s. */
async function connected(board: ReadableBoard, clock: Clock): Promise<void> {
  const isOpen = await until(board, clock, () => board.status.how === 'open', CONNECT_LIMIT_MS);
  if (isOpen) return;
  const { status } = board;
  throw new Error(status.how === 'lost' ? status.why : 'The board is not connected. Try once more.');
}

/** Connects to the board when a person asks for something of it; it is started if none runs. Rejects with why it is not there after 30 s. */
export function wanted(board: ReadableBoard & Pick<BoardConnection, 'want'>, clock: Clock): Promise<void> {
  board.want();
  return connected(board, clock);
}

/** Resolves with true as soon as `accept` holds of the board, and with false after the limit. */
export function until(
  board: Pick<BoardConnection, 'onChange'>,
  clock: Clock,
  accept: () => boolean,
  limitMs: number,
): Promise<boolean> {
  if (accept()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const settle = (found: boolean): void => {
      changes.dispose();
      limit.dispose();
      resolve(found);
    };
    const changes = board.onChange(() => {
      if (accept()) settle(true);
    });
    const limit = clock.after(limitMs, () => settle(false));
  });
}
