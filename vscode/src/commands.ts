import * as vscode from 'vscode';
import { messageOf } from '../../src/base/errors.js';
import { DisposableStore, type Disposable } from '../../src/base/lifecycle.js';
import { showError, showInformation } from './messages.js';
import type { Connection, ConnectionState } from './connection/connection.js';

export interface CommandOptions {
  readonly connection: Connection;
  readonly showLog: () => void;
}

const SHOW_LOG = 'Show Log';
/** Of the status bar's item. */
const PRIORITY = 100;

/** The commands of the palette. */
export function registerCommands({ connection, showLog }: CommandOptions): Disposable {
  const owned = new DisposableStore();
  const add = (name: string, run: () => Promise<void>): void => {
    owned.add(vscode.commands.registerCommand(`claudeTerminalBridge.${name}`, run));
  };
  const showStatus = async (): Promise<void> => {
    const { text } = connection.state;
    const chosen = await showInformation(`Claude Terminal Bridge: ${text}`, SHOW_LOG);
    if (chosen === SHOW_LOG) showLog();
  };
  add('connect', async () => {
    try {
      await connection.connect();
      await showStatus();
    } catch (error) {
      await showError(`Claude Terminal Bridge: ${messageOf(error)}`);
    }
  });
  add('disconnect', async () => {
    await connection.disconnect();
    await showStatus();
  });
  add('showStatus', showStatus);
  return owned;
}

/** Shows whether programs can connect, and which have. */
export function statusBar(): Disposable & { show(state: ConnectionState): void } {
  const item = vscode.window.createStatusBarItem(
    'claudeTerminalBridge.connection',
    vscode.StatusBarAlignment.Right,
    PRIORITY,
  );
  item.name = 'Claude Terminal Bridge';
  item.command = 'claudeTerminalBridge.showStatus';
  item.show();
  return {
    show: (state) => {
      item.text = state.isConnected ? '$(plug) MCP Connected' : '$(debug-disconnect) MCP Disconnected';
      item.tooltip = `Claude Terminal Bridge: ${state.text}`;
    },
    dispose: () => item.dispose(),
  };
}
