import * as vscode from 'vscode';
import { toDisposable, type Disposable } from '../../../../src/base/lifecycle.js';

/** Adds "Ask Claude to fix this" to every problem of a file, in the light bulb and in the view of problems. `command` gets the file and the diagnostics. */
export function fixActions(command: string): Disposable {
  const title = 'Ask Claude to fix this';
  const registered = vscode.languages.registerCodeActionsProvider(
    { scheme: 'file' },
    {
      provideCodeActions: (document, _range, { diagnostics }) => {
        if (diagnostics.length === 0 || !vscode.workspace.isTrusted) return [];
        const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
        action.diagnostics = [...diagnostics];
        action.command = { title, command, arguments: [document.uri, [...diagnostics]] };
        return [action];
      },
    },
    { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
  );
  return toDisposable(() => void registered.dispose());
}
