import * as vscode from 'vscode';
import { farIdOf } from '../../../../src/base/ids.js';
import { DisposableStore, type Disposable } from '../../../../src/base/lifecycle.js';
import { shownCharacters } from '../../../../src/base/text.js';
import { openOf } from '../../../../src/board/state.js';
import { showInformation, showWarning } from '../../messages.js';
import type { TaskNotifications } from '../../settings.js';
import { taskCommands, type TaskContext } from '../task-part.js';
import { decisionNotices, isOfWorkspace, newDecisions } from './decision-notices.js';

/** Left of the status of the connection. */
const PRIORITY = 101;
const MAX_LINES = 5;

/** Notifications with buttons for what tasks ask. */
export function decisionNotifications(context: TaskContext): Disposable {
  const { board, clock, editor } = context;
  const fresh = newDecisions(clock.now());
  const ask = decisionNotices({
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
    if (board.state.how !== 'open') return;
    for (const decision of fresh(board.board)) {
      // A folder of another machine is none of this workspace.
      const isHere = farIdOf(decision.task_id) === undefined;
      const project = isHere ? board.board.tasks[decision.task_id]?.project_path : undefined;
      const which = whichTasks(context);
      if (which === 'all' || (which === 'workspace' && isOfWorkspace(project, editor.folders())))
        void ask(decision);
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

/** Counts in the status bar what waits for an answer. */
export function waitingCount({ board }: TaskContext): Disposable {
  const owned = new DisposableStore();
  const item = owned.add(
    vscode.window.createStatusBarItem(
      'claudeTerminalBridge.waiting',
      vscode.StatusBarAlignment.Right,
      PRIORITY,
    ),
  );
  item.name = 'Claude Tasks That Wait';
  item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
  const show = (): void => {
    const open = openOf(board.board.decisions);
    if (open.length === 0) return item.hide();
    const isLost = board.state.how !== 'open';
    item.text = `$(bell-dot) ${open.length} waiting${isLost ? ' (not connected)' : ''}`;
    const lines = open.slice(0, MAX_LINES).map(({ summary }) => shownCharacters(summary));
    if (open.length > MAX_LINES) lines.push(`and ${open.length - MAX_LINES} more`);
    item.tooltip = `Claude Code waits for an answer:\n${lines.join('\n')}`;
    const ids = new Set(open.map(({ task_id }) => task_id));
    const [only] = ids;
    item.command = {
      title: 'Show',
      command: taskCommands.show,
      arguments: ids.size === 1 ? [only] : [],
    };
    item.show();
  };
  owned.add(board.onChange(show));
  return owned;
}
