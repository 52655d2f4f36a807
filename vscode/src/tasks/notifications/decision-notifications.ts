import * as vscode from 'vscode';
import { messageOf } from '../../../../src/base/errors.js';
import type { Disposable } from '../../../../src/base/lifecycle.js';
import type { DecisionView } from '../../../../src/board/state.js';
import type { TaskNotifications } from '../../settings.js';
import { showInformation, showWarning } from '../../messages.js';
import { taskCommands, type TaskContext } from '../task-part.js';
import { decisionNotice } from './decision-notice.js';
import { isOfWorkspace } from './is-of-workspace.js';
import { NewDecisions } from './new-decisions.js';

/** A button that is pressed sooner was not read. */
const INERT_MS = 500;

/** Notifications with buttons for what tasks ask. */
export function decisionNotifications(context: TaskContext): Disposable {
  const { board, clock, editor } = context;
  const fresh = new NewDecisions(clock.now());
  return board.onChange(() => {
    if (board.status.how !== 'open') return;
    for (const decision of fresh.in(board.board)) {
      const project = board.board.tasks[decision.task_id]?.project_path;
      const which = whichTasks(context);
      if (which === 'all' || (which === 'workspace' && isOfWorkspace(project, editor.folders())))
        void notify(context, decision);
    }
  });
}

function whichTasks({ settings, logger }: TaskContext): TaskNotifications {
  try {
    return settings().taskNotifications;
  } catch (error) {
    logger.error('Without valid settings no task asks by a notification', { error });
    return 'off';
  }
}

async function notify(context: TaskContext, decision: DecisionView): Promise<void> {
  const { board, clock } = context;
  const { task_id, decision_id, input_sha256 } = decision;
  const { message, buttons } = decisionNotice(decision, board.board.tasks[task_id]);
  const shownAtMs = clock.monotonicMs();
  const label = await showInformation(message, ...buttons.map((one) => one.label));
  const button = buttons.find((one) => one.label === label);
  // Closed: the view still asks.
  if (button === undefined) return;
  if (button.answer === undefined) {
    await vscode.commands.executeCommand(taskCommands.show, task_id);
    return;
  }
  if (clock.monotonicMs() - shownAtMs < INERT_MS) return notify(context, decision);
  try {
    await board.act({ type: 'decision.answer', task_id, decision_id, input_sha256, ...button.answer });
  } catch (error) {
    await showWarning(`Claude Terminal Bridge: ${messageOf(error)}`);
  }
}
