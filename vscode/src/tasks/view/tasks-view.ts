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
export function tasksView(context: TaskContext): Disposable {
  const { board } = context;
  const owned = new DisposableStore();
  const provider = new TasksView(context);
  owned.add(provider);
  owned.add(
    vscode.window.registerWebviewViewProvider(VIEW, provider, {
      // What is typed in it would be lost else.
      webviewOptions: { retainContextWhenHidden: true },
    }),
  );
  owned.add(board.onChange(() => provider.count()));
  owned.add(
    vscode.commands.registerCommand(taskCommands.show, async (taskId: unknown) => {
      provider.show(taskIdOf(taskId));
      await vscode.commands.executeCommand(`${VIEW}.focus`);
    }),
  );
  return owned;
}

class TasksView implements vscode.WebviewViewProvider, Disposable {
  readonly #context: TaskContext;
  #view: vscode.WebviewView | undefined;
  #link: PageLink | undefined;
  /** Asked for before there was a page. */
  #toShow: { readonly taskId: string | undefined } | undefined;

  constructor(context: TaskContext) {
    this.#context = context;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { extension, logger, board } = this.#context;
    const folder = vscode.Uri.joinPath(extension.extensionUri, 'dist', 'web');
    const { webview } = view;
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    const link = new PageLink({
      board,
      post: (news) => void webview.postMessage(news),
      onAction: (action) => void runAction(action),
      isAsked: this.#isAsked(view),
      logger,
    });
    this.#link?.dispose();
    this.#link = link;
    this.#view = view;
    webview.onDidReceiveMessage((message: unknown) => link.received(message));
    view.onDidDispose(() => {
      link.dispose();
      if (this.#view === view) this.#view = undefined;
    });
    if (this.#toShow !== undefined) link.show(this.#toShow.taskId);
    this.#toShow = undefined;
    this.count();
    webview.html = pageHtml({
      source: webview.cspSource,
      folder: webview.asWebviewUri(folder).toString(),
      nonce: randomBytes(NONCE_BYTES).toString('base64url'),
    });
  }

  show(taskId: string | undefined): void {
    if (this.#view === undefined) this.#toShow = { taskId };
    else if (taskId !== undefined || this.#context.board.status.how !== 'open') this.#link?.show(taskId);
  }

  /** The editor shows a view again that was seen when the window was closed: no person asked for that one. */
  #isAsked(view: vscode.WebviewView): boolean {
    const { workspaceState } = this.#context.extension;
    const wasSeen = this.#view === undefined && workspaceState.get(SEEN) === true;
    const note = (): void => void workspaceState.update(SEEN, view.visible);
    view.onDidChangeVisibility(note);
    note();
    return !wasSeen || this.#toShow !== undefined;
  }

  /** Its badge counts what waits for an answer. */
  count(): void {
    if (this.#view === undefined) return;
    const { length } = openOf(this.#context.board.board.decisions);
    this.#view.badge =
      length === 0 ? undefined : { value: length, tooltip: `${length} waiting for an answer` };
  }

  dispose(): void {
    this.#link?.dispose();
  }
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
