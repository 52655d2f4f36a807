import * as vscode from 'vscode';
import type { Disposable } from '../../../../src/base/lifecycle.js';
import type { TaskNotifications } from '../../settings.js';
import { showInformation, showWarning } from '../../messages.js';
import { taskCommands, type TaskContext } from '../task-part.js';
import { DecisionNotices } from './decision-notices.js';
import { isOfWorkspace } from './is-of-workspace.js';
import { NewDecisions } from './new-decisions.js';

/** Notifications with buttons for what tasks ask. */
export function decisionNotifications(context: TaskContext): Disposable {
  const { board, clock, editor } = context;
  const fresh = new NewDecisions(clock.now());
  const notices = new DecisionNotices({
    board,
    clock,
    show: (message, buttons) => showInformation(message, ...buttons),
    open: async (taskId) => {
      await vscode.commands.executeCommand(taskCommands.show, taskId);
    },
    warn: async (words) => {
      await showWarning(`Claude Terminal Bridge: ${words}`);
    },
  });
  return board.onChange(() => {
    if (board.status.how !== 'open') return;
    for (const decision of fresh.in(board.board)) {
      const project = board.board.tasks[decision.task_id]?.project_path;
      const which = whichTasks(context);
      if (which === 'all' || (which === 'workspace' && isOfWorkspace(project, editor.folders())))
        void notices.ask(decision);
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
