import * as vscode from 'vscode';
import { messageOf } from '../../src/base/errors.js';
import { DisposableStore, type Disposable } from '../../src/base/lifecycle.js';
import { EDITOR_PROTOCOL } from '../../src/editor/protocol.js';
import { Connection, type ConnectionState } from './connection/connection.js';
import { untoldPrograms } from './connection/untold-programs.js';
import type { FeatureContext } from './feature.js';
import { showError, showInformation, showWarning } from './messages.js';
import { Requests } from './requests/answer-request.js';
import { readSettings, type Settings } from './settings.js';
import { TerminalRegistry } from './terminals/terminal-registry.js';

const SECTION = 'claudeTerminalBridge';
const SHOW_LOG = 'Show Log';
/** Of the status bar's item. */
const PRIORITY = 100;
/** What needs another server, or another place for its file. */
const CONNECTION_SETTINGS = ['mcpServerUrl', 'allowWithoutToken', 'stateDir'];

/** Lets programs connect, and create, use and close terminals of this window. */
export function terminalsForPrograms(context: FeatureContext): Disposable {
  const { editor, clock, logger, version, env, homeDir, showLog } = context;
  const owned = new DisposableStore();
  const settings = (): Settings => readSettings(vscode.workspace.getConfiguration(SECTION), { env, homeDir });
  const registry = owned.add(new TerminalRegistry({ editor, clock, logger, searchPath: env['PATH'] ?? '' }));
  const requests = new Requests(registry, clock);
  const report = (work: Promise<void>, isSilent: boolean): void => {
    work.catch((error: unknown) => {
      logger.error('The connection was not changed', { error });
      if (!isSilent) void showError(`Claude Terminal Bridge: ${messageOf(error)}`);
    });
  };
  const untold = untoldPrograms({
    ...{ ask: showWarning, showLog, clock },
    // Of the machine: no workspace can set it.
    allow: async () =>
      vscode.workspace
        .getConfiguration(SECTION)
        .update('allowWithoutToken', true, vscode.ConfigurationTarget.Global),
  });
  const startedAt = new Date(clock.now()).toISOString();
  const connection = owned.add(
    new Connection({
      settings,
      facts: () => ({
        v: EDITOR_PROTOCOL,
        version,
        editor: `${vscode.env.appName} ${vscode.version}`,
        folders: [...editor.folders()],
        trusted: editor.isTrusted(),
        started_at: startedAt,
      }),
      onUntold: (name) => report(untold(name), false),
      clock,
      logger,
      welcome: (id) => ({
        type: 'welcome',
        id,
        v: EDITOR_PROTOCOL,
        version,
        trusted: editor.isTrusted(),
        folders: [...editor.folders()],
      }),
      answer: (request, program) => requests.answer(request, program),
    }),
  );
  owned.add(registry.onClosed((closed) => connection.broadcast(closed)));
  const bar = owned.add(statusBar());
  owned.add(connection.onChange(() => bar.show(connection.state)));
  bar.show(connection.state);
  owned.add(commandsOf(connection, showLog));
  owned.add(
    vscode.workspace.onDidChangeConfiguration((changed) => {
      if (CONNECTION_SETTINGS.some((name) => changed.affectsConfiguration(`${SECTION}.${name}`)))
        report(connection.reconnect(), false);
    }),
  );
  owned.add(vscode.workspace.onDidGrantWorkspaceTrust(() => report(connection.describe(), false)));
  owned.add(vscode.workspace.onDidChangeWorkspaceFolders(() => report(connection.describe(), false)));
  listenAtStart(context, settings, (isSilent) => report(connection.connect(), isSilent));
  return owned;
}

/** Listens as soon as the window is open, as far as the settings say. */
function listenAtStart(
  { logger }: FeatureContext,
  settings: () => Settings,
  connect: (isSilent: boolean) => void,
): void {
  try {
    const { autoConnect, silentAutoConnect } = settings();
    if (autoConnect) connect(silentAutoConnect);
  } catch (error) {
    logger.error('The settings cannot be used', { error });
    void showError(`Claude Terminal Bridge: ${messageOf(error)}`);
  }
}

/** The commands of the palette. */
function commandsOf(connection: Connection, showLog: () => void): Disposable {
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
function statusBar(): Disposable & { show(state: ConnectionState): void } {
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
