import * as vscode from 'vscode';
import { messageOf } from '../../src/base/errors.js';
import { DisposableStore, type Disposable } from '../../src/base/lifecycle.js';
import { showError, showInformation } from './messages.js';
import type { Connection } from './connection/connection.js';
import { rowText } from './shown-text.js';
import type { TerminalRegistry } from './terminals/terminal-registry.js';

export interface CommandOptions {
  readonly connection: Connection;
  readonly registry: TerminalRegistry;
  readonly showLog: () => void;
}

const SHOW_LOG = 'Show Log';

/** The commands of the palette. */
export function registerCommands({ connection, registry, showLog }: CommandOptions): Disposable {
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
  add('closeTerminal', async () => {
    const items = registry.all.map((terminal) => ({
      label: rowText(terminal.shown.name),
      description: rowText(`made by ${terminal.facts.createdBy}`),
      terminal,
    }));
    const chosen = await vscode.window.showQuickPick(items, {
      title: 'Close a Terminal of a Program',
      placeHolder: items.length === 0 ? 'No program has made a terminal' : 'Which terminal?',
    });
    if (chosen !== undefined) registry.closeByPerson(chosen.terminal.facts.terminalId);
  });
  return owned;
}
