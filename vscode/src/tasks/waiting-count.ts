import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import { shownCharacters } from '../../../src/base/text/unseen-characters.js';
import { openOf } from '../../../src/board/state.js';
import { taskCommands, type TaskContext } from './task-part.js';

/** Left of the status of the connection. */
const PRIORITY = 101;
const MAX_LINES = 5;

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
    const isLost = board.status.how !== 'open';
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
