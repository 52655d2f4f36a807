import { lstat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { systemCodeOf } from '../../../../src/base/errors.js';
import { DisposableStore, type Disposable } from '../../../../src/base/lifecycle.js';
import { noTextWords } from './choices.js';
import { documentOf, TASK_SCHEME, uriOf, type TaskDocument } from './document-uri.js';
import type { FollowedDiffs } from './followed-diffs.js';
import type { OpenChanges } from './open-changes.js';
import { documentsInTabs } from './open-tabs.js';
import type { ReadFile } from './read-file.js';

export interface TaskDocumentsOptions {
  readonly diffs: FollowedDiffs;
  readonly open: OpenChanges;
  readonly read: ReadFile;
}

/** Gives the editor the texts of the board, and notes which of them are open. */
export function taskDocuments({ diffs, open, read }: TaskDocumentsOptions): Disposable {
  const owned = new DisposableStore();
  const changed = owned.add(new vscode.EventEmitter<vscode.Uri>());
  owned.add(
    vscode.workspace.registerTextDocumentContentProvider(TASK_SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: async (uri) => {
        const document = documentOf(uri);
        if (document === undefined) throw new Error('This is no file of a task.');
        const { text, why } = await read(document);
        if (text === null && why !== 'missing') throw new Error(noTextWords(document.name, why));
        return text ?? '';
      },
    }),
  );
  // The text before the task does not change.
  owned.add(
    diffs.onChange((taskId) => {
      for (const document of open.documents(taskId))
        if (document.side === 'new') changed.fire(editorUri(document));
    }),
  );
  const look = (): void => {
    for (const document of open.show(documentsInTabs()))
      // The editor may still have a text of this document from before.
      if (document.side === 'new') changed.fire(editorUri(document));
  };
  owned.add(vscode.window.tabGroups.onDidChangeTabs(look));
  owned.add(vscode.window.tabGroups.onDidChangeTabGroups(look));
  look();
  return owned;
}

/** `folder` is the one that the editor shows the file in; it ends with `/`. */
export function editorUri(document: TaskDocument, folder?: string): vscode.Uri {
  return vscode.Uri.from(uriOf(document, folder));
}

/** The path when it is that of a regular file on this machine. */
export async function regularFile(path: string | null): Promise<string | undefined> {
  if (path === null) return undefined;
  try {
    return (await lstat(path)).isFile() ? path : undefined;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
