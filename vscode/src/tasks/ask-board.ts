import * as vscode from 'vscode';
import { withinMs } from '../../../src/base/clock.js';
import { nextEvent, Slots } from '../../../src/base/lifecycle.js';
import type { FileText } from '../../../src/board/protocol.js';
import { diffOf, type DiffState } from '../../../src/board/state.js';
import { BoardRefusal } from '../board/board-connection.js';
import { deferred } from '../deferred.js';
import type { TaskDocument } from './changes/changed-file.js';
import { taskChoices } from './task-choices.js';
import type { TaskContext } from './task-part.js';

/** A board may have to be started first. */
const CONNECT_LIMIT_MS = 30_000;
const TASKS_LIMIT_MS = 5_000;
const DIFF_LIMIT_MS = 40_000;
const MAX_READING = 8;
const noAbort = new AbortController().signal;

type Asking = Pick<TaskContext, 'board' | 'clock'>;

/** The person chooses a task; undefined when none was chosen. The board is started if none runs. */
export async function chooseTask(
  context: Asking,
  title: string,
  which: 'running' | 'started',
): Promise<string | undefined> {
  const { board } = context;
  board.want();
  await connected(context);
  await until(context, () => Object.keys(board.board.tasks).length > 0, TASKS_LIMIT_MS);
  const choices = taskChoices(board.board, which);
  const placeHolder =
    choices.length > 0 ? 'Which task?' : `No task ${which === 'running' ? 'runs' : 'has begun'}`;
  const options = { title, placeHolder, matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(choices, options))?.value;
}

/** What a task changed, now. The board is started if none runs. Throws BoardRefusal, and an error when the board says nothing in 40 s. */
export async function currentDiff(context: Asking, taskId: string): Promise<DiffState> {
  const { board, clock } = context;
  board.want();
  await connected(context);
  const found = deferred<DiffState>();
  const channel = board.follow(`diff:/${taskId}`, {
    changed: (values) => found.resolve(diffOf(values)),
    refused: (error) => found.reject(new BoardRefusal(error)),
  });
  try {
    const diff = await withinMs(clock, DIFF_LIMIT_MS, found.promise);
    if (diff !== undefined) return diff;
    throw new Error('The board does not say what the task changed. Try once more.');
  } finally {
    channel.dispose();
  }
}

/** The text of one side of a file. Throws BoardRefusal. */
export type ReadFile = (document: TaskDocument) => Promise<FileText>;

/** The editor asks for the texts of many files at once; of many large ones the connection would end, so some wait here. */
export function fileReader(context: Asking): ReadFile {
  const slots = new Slots(MAX_READING);
  return async ({ taskId, name, side }) => {
    const slot = await slots.take(noAbort);
    try {
      await connected(context);
      const { file } = await context.board.do({ type: 'file.read', task_id: taskId, file: name, side });
      if (file !== undefined) return file;
      throw new BoardRefusal({ code: 'INTERNAL_ERROR', message: 'The board gave no text.', hint: '' });
    } finally {
      slot.dispose();
    }
  };
}

/** Waits for the board. Rejects with why it is not there, after one more try, or after 30 s. */
export async function connected(context: Asking): Promise<void> {
  const { board } = context;
  const before = board.state;
  const isTried = (): boolean => board.state.how === 'open' || board.state !== before;
  if ((await until(context, isTried, CONNECT_LIMIT_MS)) && board.state.how === 'open') return;
  const { state } = board;
  throw new Error('why' in state ? state.why : 'The board is not connected. Try once more.');
}

/** Resolves with true as soon as `accept` holds of the board, and with false after the limit. */
async function until({ board, clock }: Asking, accept: () => boolean, limitMs: number): Promise<boolean> {
  if (!accept()) await withinMs(clock, limitMs, nextEvent(board.onChange, accept));
  return accept();
}
