import { isAbsolute, relative, sep } from 'node:path';
import * as vscode from 'vscode';
import { showError } from '../../messages.js';
import type { LineRange, Problem, TaskTopic } from './prompt.js';

const severities = ['error', 'warning', 'information', 'hint'] as const;

/** The folder of a task, and the names of files in it. */
export interface TaskPlace {
  /** Absolute. */
  readonly folder: string;
  /** Relative to it; absolute for a file outside. */
  readonly files: readonly string[];
}

/** The workspace folder of the files; without files the person chooses one of several. Undefined when there is none. */
export async function placeOf(
  uris: readonly vscode.Uri[],
  beside?: vscode.Uri,
): Promise<TaskPlace | undefined> {
  const [near = beside] = uris;
  const folder = (near && vscode.workspace.getWorkspaceFolder(near)) ?? (await chosenFolder());
  if (folder === undefined) return undefined;
  const root = folder.uri.fsPath;
  return { folder: root, files: await Promise.all(uris.map((uri) => nameIn(root, uri))) };
}

async function chosenFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  if (folders.length === 0) void showError('A task works in a folder. Open one in this window first.');
  if (folders.length < 2) return folders[0];
  return vscode.window.showWorkspaceFolderPick({
    placeHolder: 'In which folder is the task to work?',
  });
}

async function nameIn(root: string, uri: vscode.Uri): Promise<string> {
  const path = relative(root, uri.fsPath);
  const isOutside = path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  const name = isOutside ? uri.fsPath : path === '' ? '.' : path.split(sep).join('/');
  return (await isFolder(uri)) ? `${name}/` : name;
}

async function isFolder(uri: vscode.Uri): Promise<boolean> {
  try {
    return ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.Directory) !== 0;
  } catch {
    // It is not there any more: what Claude finds there is Claude's to say.
    return false;
  }
}

/** What is selected in an editor. */
export function selectionTopic(editor: vscode.TextEditor): Omit<TaskTopic, 'files'> {
  const { document, selection } = editor;
  if (selection.isEmpty) return { problems: [] };
  return {
    lines: linesOf(selection),
    selection: { text: document.getText(selection), language: document.languageId },
    problems: [],
  };
}

/** The problems, and the lines that they are in. */
export function problemsTopic(diagnostics: readonly vscode.Diagnostic[]): Omit<TaskTopic, 'files'> {
  const problems = diagnostics.map(problemOf);
  return {
    lines: {
      first: Math.min(...problems.map(({ lines }) => lines.first)),
      last: Math.max(...problems.map(({ lines }) => lines.last)),
    },
    problems,
  };
}

function problemOf({ severity, message, source, code, range }: vscode.Diagnostic): Problem {
  return {
    severity: severities[severity],
    message,
    source: source ?? '',
    code: String((typeof code === 'object' ? code.value : code) ?? ''),
    lines: linesOf(range),
  };
}

/** A range that ends before the first character of a line does not hold that line. */
function linesOf({ start, end }: vscode.Range): LineRange {
  const isBeforeLine = end.character === 0 && end.line > start.line;
  return { first: start.line + 1, last: isBeforeLine ? end.line : end.line + 1 };
}
