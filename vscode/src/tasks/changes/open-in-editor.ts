import * as vscode from 'vscode';
import type { DiffFile, DiffState } from '../../../../src/board/state.js';
import { showInformation } from '../../messages.js';
import { noTextWords, titleOf } from './choices.js';
import type { TaskDocument } from './document-uri.js';
import type { ReadFile } from './read-file.js';
import { editorUri, regularFile } from './task-documents.js';

/** Shows one changed file: as a diff, or itself when there is no text to compare. Throws BoardRefusal. */
export async function openChange(taskId: string, file: DiffFile, read: ReadFile): Promise<void> {
  const { old, now } = sidesOf(taskId, file);
  const before = file.is_binary || file.change === 'created' ? undefined : await read(old);
  const after = file.change === 'deleted' ? undefined : await read(now);
  const place = await regularFile(after?.path ?? null);
  const why = [before?.why, after?.why].find((one) => one === 'binary' || one === 'too_large');
  if (file.is_binary || why !== undefined) {
    if (place !== undefined) await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(place));
    void showInformation(noTextWords(file.path, why ?? 'binary'));
    return;
  }
  const left = editorUri(old, topOf(place, file.path));
  await vscode.commands.executeCommand('vscode.diff', left, rightOf(now, place), titleOf(file));
}

/** Shows all changed files that have a text in one editor. Throws BoardRefusal. */
export async function openAllChanges(taskId: string, { files }: DiffState, read: ReadFile): Promise<void> {
  const shown = files.filter(({ is_binary: isBinary }) => !isBinary);
  const folder = await folderOf(taskId, shown, read);
  const resources: [vscode.Uri, vscode.Uri, vscode.Uri][] = [];
  for (const file of shown) {
    const { old, now } = sidesOf(taskId, file);
    const place = folder === undefined ? undefined : await regularFile(`${folder}${file.path}`);
    resources.push([
      place === undefined ? editorUri(now) : vscode.Uri.file(place),
      // With another path than the right side, a deleted file would be shown as renamed.
      editorUri(old, place === undefined ? undefined : folder),
      rightOf(now, place),
    ]);
  }
  await vscode.commands.executeCommand('vscode.changes', 'Changes of a Claude task', resources);
}

/** Where the files are on disk, with the last `/`; undefined when the new side is a commit. */
async function folderOf(
  taskId: string,
  files: readonly DiffFile[],
  read: ReadFile,
): Promise<string | undefined> {
  const file = files.find(({ change }) => change !== 'deleted')?.path;
  if (file === undefined) return undefined;
  const { path } = await read({ taskId, name: file, side: 'new' });
  return topOf(path, file);
}

function topOf(path: string | null | undefined, file: string): string | undefined {
  return path?.endsWith(`/${file}`) === true ? path.slice(0, -file.length) : undefined;
}

function sidesOf(
  taskId: string,
  { path: file, old_path: oldPath = file }: DiffFile,
): { readonly old: TaskDocument; readonly now: TaskDocument } {
  return {
    old: { taskId, file, side: 'old', name: oldPath },
    now: { taskId, file, side: 'new', name: file },
  };
}

function rightOf(now: TaskDocument, place: string | undefined): vscode.Uri {
  return place === undefined ? editorUri(now) : vscode.Uri.file(place);
}
