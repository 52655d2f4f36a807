import { lstat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { systemCodeOf } from '../../../../src/base/errors.js';
import { DisposableStore, type Disposable } from '../../../../src/base/lifecycle.js';
import { TASK_ID_PATTERN } from '../../../../src/base/ids.js';
import { shownCharacters } from '../../../../src/base/text.js';
import type { DiffFile, DiffState } from '../../../../src/board/state.js';
import { showInformation } from '../../messages.js';
import { chooseTask, currentDiff, fileReader, type ReadFile } from '../ask-board.js';
import { taskIdOf } from '../task-choices.js';
import { taskCommand, taskCommands, type TaskContext, type TaskPart } from '../task-part.js';
import {
  documentOf,
  fileChoices,
  noTextWords,
  TASK_SCHEME,
  titleOf,
  uriOf,
  type Choice,
  type TaskDocument,
} from './changed-file.js';

/** What tasks changed, in the editor's own diff editor. */
export const taskChanges: TaskPart = (context) => {
  const owned = new DisposableStore();
  const read = fileReader(context);
  owned.add(taskDocuments(read));
  owned.add(
    taskCommand(taskCommands.openChanges, async (task) => {
      const taskId = taskIdOf(task) ?? (await chooseTask(context, 'Changes of a Claude task', 'started'));
      if (taskId !== undefined) await chooseChange(context, requireLocal(taskId), read);
    }),
  );
  owned.add(
    taskCommand(taskCommands.openChange, async (task, name) => {
      const taskId = taskIdOf(task);
      if (taskId === undefined || typeof name !== 'string') throw new Error('Which file of which task?');
      const { files } = await currentDiff(context, requireLocal(taskId));
      const file = files.find(({ path }) => path === name);
      if (file === undefined) throw new Error(`${name} is not a file that the task changed.`);
      await openChange(taskId, file, read);
    }),
  );
  return owned;
};

/** A path over there may be another file here. */
function requireLocal(taskId: string): string {
  if (TASK_ID_PATTERN.test(taskId)) return taskId;
  throw new Error('The task runs on another machine: the view "Claude tasks" shows what it changed.');
}

async function chooseChange(context: TaskContext, taskId: string, read: ReadFile): Promise<void> {
  const diff = await currentDiff(context, taskId);
  const { files, notes, why } = diff;
  if (files.length === 0) {
    void showInformation(why ?? 'The task changed nothing.');
    return;
  }
  const all = { label: 'All files', description: `${files.length} files`, value: undefined };
  const choices: Choice<DiffFile | undefined>[] = [...(files.length > 1 ? [all] : []), ...fileChoices(files)];
  const chosen = await vscode.window.showQuickPick(choices, {
    title: 'Changes of a Claude task',
    placeHolder: notes.length === 0 ? 'Which file?' : shownCharacters(notes.join(' ')),
  });
  if (chosen === undefined) return;
  if (chosen.value === undefined) await openAllChanges(taskId, diff, read);
  else await openChange(taskId, chosen.value, read);
}

/** Gives the editor the texts of the board. */
function taskDocuments(read: ReadFile): Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(TASK_SCHEME, {
    provideTextDocumentContent: async (uri) => {
      const document = documentOf(uri);
      if (document === undefined) throw new Error('This is no file of a task.');
      const { text, why } = await read(document);
      if (text === null && why !== 'missing') throw new Error(noTextWords(document.name, why));
      return text ?? '';
    },
  });
}

/** Shows one changed file: as a diff, or itself when there is no text to compare. Throws BoardRefusal. */
async function openChange(taskId: string, file: DiffFile, read: ReadFile): Promise<void> {
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
async function openAllChanges(taskId: string, { files }: DiffState, read: ReadFile): Promise<void> {
  const shown = files.filter(({ is_binary: isBinary }) => !isBinary);
  const folder = await folderOf(taskId, shown, read);
  const resources: [vscode.Uri, vscode.Uri, vscode.Uri][] = [];
  for (const file of shown) {
    const { old, now } = sidesOf(taskId, file);
    const place = folder === undefined ? undefined : await regularFile(`${folder}${file.path}`);
    const right = rightOf(now, place);
    // With another path than the right side, a deleted file would be shown as renamed.
    resources.push([right, editorUri(old, place === undefined ? undefined : folder), right]);
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

function sidesOf(taskId: string, { path, old_path: oldPath = path }: DiffFile) {
  const [old, now]: readonly [TaskDocument, TaskDocument] = [
    { taskId, side: 'old', name: oldPath },
    { taskId, side: 'new', name: path },
  ];
  return { old, now };
}

function rightOf(now: TaskDocument, place: string | undefined): vscode.Uri {
  return place === undefined ? editorUri(now) : vscode.Uri.file(place);
}

/** `folder` is the one that the editor shows the file in; it ends with `/`. */
function editorUri(document: TaskDocument, folder?: string): vscode.Uri {
  return vscode.Uri.from(uriOf(document, Date.now(), folder));
}

/** The path when it is that of a regular file on this machine. */
async function regularFile(path: string | null): Promise<string | undefined> {
  if (path === null) return undefined;
  try {
    return (await lstat(path)).isFile() ? path : undefined;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
