import * as vscode from 'vscode';
import type { Disposable } from '../../src/base/lifecycle.js';
import type { ConnectionState } from './connection/connection.js';

const PRIORITY = 100;

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
