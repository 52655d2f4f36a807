import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../src/base/lifecycle.js';
import { BoardConnection } from './board/board-connection.js';
import { findBoard, openBoardSocket } from './board/board-socket.js';
import type { BridgeCommandOptions } from './board/bridge-command.js';
import type { FeatureContext } from './feature.js';
import { readSettings, type Settings } from './settings.js';
import { decisionNotifications, waitingCount } from './tasks/notifications/waiting.js';
import { taskChanges } from './tasks/changes/task-changes.js';
import type { TaskContext, TaskPart } from './tasks/task-part.js';
import { tasksView } from './tasks/view/tasks-view.js';
import { taskStarts } from './tasks/start/task-starts.js';
import { taskTerminals } from './tasks/task-terminals.js';

const SECTION = 'claudeTerminalBridge';
/** What needs another board, or none. */
const BOARD_SETTINGS = ['showTasks', 'stateDir', 'bridgeCommand'];

/** All parts of the tasks in the editor. */
const parts: readonly TaskPart[] = [
  tasksView,
  waitingCount,
  decisionNotifications,
  taskTerminals,
  taskStarts,
  taskChanges,
];

/** Shows the tasks of the bridge in this window, as far as the settings say. */
export function tasksInEditor(context: FeatureContext): Disposable {
  const owned = new DisposableStore();
  const settings = (): Settings => readSettings(vscode.workspace.getConfiguration(SECTION), context);
  const bridge = (): BridgeCommandOptions => {
    const { bridgeCommand, statePath } = settings();
    return { configured: bridgeCommand, statePath, env: context.env, homeDir: context.homeDir };
  };
  const board = owned.add(
    new BoardConnection({
      open: async (events, isWanted, mayStart) => {
        if (!settings().showTasks && !isWanted) return undefined;
        const found = await findBoard(bridge(), mayStart);
        return found && openBoardSocket(found, events, context.logger);
      },
      clock: context.clock,
    }),
  );
  const tasks: TaskContext = { ...context, board, settings, bridge };
  for (const part of parts) owned.add(part(tasks));
  owned.add(
    vscode.workspace.onDidChangeConfiguration((changed) => {
      if (BOARD_SETTINGS.some((name) => changed.affectsConfiguration(`${SECTION}.${name}`))) board.connect();
    }),
  );
  board.connect();
  return owned;
}
