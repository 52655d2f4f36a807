import * as vscode from 'vscode';
import { messageOf } from '../../../src/base/errors.js';
import type { Disposable } from '../../../src/base/lifecycle.js';
import type { BoardConnection } from '../board/board-connection.js';
import type { BridgeCommandOptions } from '../board/bridge-command.js';
import type { FeatureContext } from '../feature.js';
import { showError } from '../messages.js';
import type { Settings } from '../settings.js';

/** What every part of the tasks in the editor gets. */
export interface TaskContext extends FeatureContext {
  /** To the board; shared by all parts. */
  readonly board: BoardConnection;
  /** Throws an error with what is wrong in them. */
  readonly settings: () => Settings;
  /** How to run `claude-code-bridge`. Throws as `settings`. */
  readonly bridge: () => BridgeCommandOptions;
}

/** A part of the tasks in the editor: it begins when it is called, and ends when its result is disposed. */
export type TaskPart = (context: TaskContext) => Disposable;

/** Commands of these parts that other parts run. The first argument is the id of a task. */
export const taskCommands = {
  /** Shows the task in the view "Claude tasks"; without an id, the overview. */
  show: 'claudeTerminalBridge.showTasks',
  /** Opens its terminal. */
  openTerminal: 'claudeTerminalBridge.openTaskTerminal',
  /** Lists its changed files. */
  openChanges: 'claudeTerminalBridge.openTaskChanges',
  /** Opens a changed file in the diff editor: the second argument is its path in the task's folder. */
  openChange: 'claudeTerminalBridge.openTaskChange',
  /** Asks what Claude is to do, and starts a task; takes no argument. */
  start: 'claudeTerminalBridge.startTask',
} as const;

/** A command of the palette or of a link; why it failed is shown. */
export function taskCommand(
  id: string,
  run: (...given: readonly unknown[]) => Promise<void>,
): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (...given: readonly unknown[]) => {
    try {
      await run(...given);
    } catch (error) {
      void showError(messageOf(error));
    }
  });
}
