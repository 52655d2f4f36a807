import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../../../src/base/lifecycle.js';
import type { EditorAction } from '../../../../src/board/editor-page.js';
import { openOf } from '../../../../src/board/state.js';
import { taskIdOf } from '../task-choices.js';
import { taskCommands, type TaskContext } from '../task-part.js';
import { pageHtml, PageLink } from './page-link.js';

const VIEW = 'claudeTerminalBridge.tasks';
const BRIDGE_SETTING = 'claudeTerminalBridge.bridgeCommand';
const NONCE_BYTES = 16;
/** In the memory of the workspace: whether the view is seen. */
const SEEN = 'tasksViewIsSeen';

/** The view "Claude tasks": the board's page, over the connection of the window. */
export function tasksView({ board, extension, logger }: TaskContext): Disposable {
  const owned = new DisposableStore();
  let view: vscode.WebviewView | undefined;
  const link = owned.add(
    new PageLink({
      board,
      post: (news) => void view?.webview.postMessage(news),
      onAction: (action) => void runAction(action),
      logger,
    }),
  );
  /** Its badge counts what waits for an answer. */
  const count = (): void => {
    if (view === undefined) return;
    const { length } = openOf(board.board.decisions);
    view.badge = length === 0 ? undefined : { value: length, tooltip: `${length} waiting for an answer` };
  };
  const resolveWebviewView = (opened: vscode.WebviewView): void => {
    link.unload(isAsked(opened, view !== undefined, extension));
    view = opened;
    opened.webview.onDidReceiveMessage((message: unknown) => view === opened && link.received(message));
    opened.onDidDispose(() => {
      if (view !== opened) return;
      view = undefined;
      link.unload(false);
    });
    count();
    load(opened.webview, extension);
  };
  owned.add(
    vscode.window.registerWebviewViewProvider(
      VIEW,
      { resolveWebviewView },
      // What is typed in it would be lost else.
      { webviewOptions: { retainContextWhenHidden: true } },
    ),
  );
  owned.add(board.onChange(count));
  owned.add(
    vscode.commands.registerCommand(taskCommands.show, async (given: unknown) => {
      const taskId = taskIdOf(given);
      if (view === undefined || taskId !== undefined || board.state.how !== 'open') link.show(taskId);
      await vscode.commands.executeCommand(`${VIEW}.focus`);
    }),
  );
  return owned;
}

/** The editor shows a view again that was seen when the window was closed: no person asked for that one. */
function isAsked(
  view: vscode.WebviewView,
  isAgain: boolean,
  { workspaceState }: vscode.ExtensionContext,
): boolean {
  const wasSeen = !isAgain && workspaceState.get(SEEN) === true;
  const note = (): void => void workspaceState.update(SEEN, view.visible);
  view.onDidChangeVisibility(note);
  note();
  return !wasSeen;
}

function load(webview: vscode.Webview, { extensionUri }: vscode.ExtensionContext): void {
  const folder = vscode.Uri.joinPath(extensionUri, 'dist', 'web');
  webview.options = { enableScripts: true, localResourceRoots: [folder] };
  webview.html = pageHtml({
    source: webview.cspSource,
    folder: webview.asWebviewUri(folder).toString(),
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
  });
}

async function runAction(action: EditorAction): Promise<void> {
  const { executeCommand } = vscode.commands;
  switch (action.type) {
    case 'open-terminal':
      await executeCommand(taskCommands.openTerminal, action.task_id);
      return;
    case 'open-change':
      if (action.file === undefined) await executeCommand(taskCommands.openChanges, action.task_id);
      else await executeCommand(taskCommands.openChange, action.task_id, action.file);
      return;
    case 'start-task':
      await executeCommand(taskCommands.start);
      return;
    case 'open-settings':
      await executeCommand('workbench.action.openSettings', BRIDGE_SETTING);
  }
}
