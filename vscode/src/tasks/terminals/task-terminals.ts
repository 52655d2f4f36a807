import * as vscode from 'vscode';
import { messageOf } from '../../../../src/base/errors.js';
import { oneLine } from '../../../../src/base/text/text.js';
import { showBridgeTerminal } from '../../board/bridge-terminal.js';
import { showError } from '../../messages.js';
import { rowText } from '../../shown-text.js';
import { until, wanted } from '../changes/read-file.js';
import { taskCommands, taskIdOf, type TaskContext, type TaskPart } from '../task-part.js';
import { runningTasks } from './running-tasks.js';

const OVERVIEW_LIMIT_MS = 10_000;
const MAX_NAME_CHARS = 60;

/** Opens terminals of tasks: each runs `claude-code-bridge attach`. */
export const taskTerminals: TaskPart = (context) =>
  vscode.commands.registerCommand(taskCommands.openTerminal, async (given: unknown) => {
    try {
      const taskId = taskIdOf(given) ?? (await chooseTask(context));
      if (taskId !== undefined) await openTerminal(context, taskId);
    } catch (error) {
      void showError(messageOf(error));
    }
  });

async function openTerminal({ bridge, board }: TaskContext, taskId: string): Promise<void> {
  const summary = board.board.tasks[taskId]?.prompt_summary;
  await showBridgeTerminal(bridge(), ['attach', taskId], {
    name: oneLine(rowText(summary ?? taskId), MAX_NAME_CHARS),
    iconPath: new vscode.ThemeIcon('hubot'),
  });
}

async function chooseTask({ board, clock }: TaskContext): Promise<string | undefined> {
  await wanted(board, clock);
  await until(board, clock, () => Object.keys(board.board.tasks).length > 0, OVERVIEW_LIMIT_MS);
  const items = runningTasks(board.board);
  const chosen = await vscode.window.showQuickPick([...items], {
    title: 'Open Terminal of a Task',
    placeHolder: items.length === 0 ? 'No task runs' : 'Which task?',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.taskId;
}
