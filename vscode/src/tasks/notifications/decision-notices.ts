// Pure.
import type { Clock } from '../../../../src/base/clock.js';
import { messageOf } from '../../../../src/base/errors.js';
import { openOf, type BoardState, type DecisionView } from '../../../../src/board/state.js';
import type { BoardConnection } from '../../board/board-connection.js';
import { decisionNotice } from './decision-notice.js';

/** A button that is pressed sooner was not read. */
const INERT_MS = 500;

export interface DecisionNoticesOptions {
  readonly board: Pick<BoardConnection, 'board' | 'do'>;
  readonly clock: Clock;
  /** Shows a message; resolves with the button that was pressed, or undefined when it was closed. */
  readonly show: (message: string, buttons: readonly string[]) => Promise<string | undefined>;
  /** Shows the task in the view. */
  readonly open: (taskId: string) => Promise<void>;
  readonly warn: (words: string) => Promise<void>;
}

/**
 * What asks for a decision by a notification; resolves when that is gone. The editor moves the others when one appears or goes, or shows
 * one that had no room: after that, too, no button answers for half a second.
 */
export function decisionNotices({
  board,
  clock,
  show,
  open,
  warn,
}: DecisionNoticesOptions): (decision: DecisionView) => Promise<void> {
  let movedMs = 0;
  return async function ask(decision) {
    const { task_id, decision_id, input_sha256 } = decision;
    const { message, buttons } = decisionNotice(decision, board.board.tasks[task_id]);
    const labels = buttons.map(({ label }) => label);
    movedMs = clock.monotonicMs();
    const pressed = await show(message, labels);
    const isInert = clock.monotonicMs() - movedMs < INERT_MS;
    movedMs = clock.monotonicMs();
    const button = buttons.find(({ label }) => label === pressed);
    // Closed: the view still asks.
    if (button === undefined) return;
    if (button.answer === undefined) return open(task_id);
    if (isInert) return ask(decision);
    try {
      await board.do({ type: 'decision.answer', task_id, decision_id, input_sha256, ...button.answer });
    } catch (error) {
      await warn(messageOf(error));
    }
  };
}

/** Finds out which decisions a window has not seen yet. Those that were asked before it was opened (in ms since the epoch) are only counted. */
export function newDecisions(sinceMs: number): (board: BoardState) => readonly DecisionView[] {
  let known: ReadonlySet<string> = new Set();
  return ({ decisions }) => {
    const open = openOf(decisions);
    const fresh = open.filter((one) => !known.has(keyOf(one)) && Date.parse(one.asked_at) >= sinceMs);
    known = new Set(open.map(keyOf));
    return fresh;
  };
}

function keyOf({ task_id, decision_id }: DecisionView): string {
  return `${task_id}/${decision_id}`;
}

/** Whether the folder of a task is one of the window's, is in one, or has one in it. */
export function isOfWorkspace(project: string | undefined, folders: readonly string[]): boolean {
  if (project === undefined) return false;
  return folders.some(
    (folder) =>
      folder === project || project.startsWith(withSlash(folder)) || folder.startsWith(withSlash(project)),
  );
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
