import * as vscode from 'vscode';
import { DisposableStore, toDisposable, type Disposable } from '../../../../src/base/lifecycle.js';
import { connected } from '../ask-board.js';
import { taskCommand, taskCommands, type TaskContext } from '../task-part.js';
import { dialogsFor } from './dialogs.js';
import { noTopic, type TaskTopic } from './prompt.js';
import { startTask } from './start-task.js';
import { placeOf, problemsTopic, selectionTopic } from './topic-of-editor.js';

const START = taskCommands.start;
const WITH_SELECTION = 'claudeTerminalBridge.startTaskWithSelection';
const WITH_FILE = 'claudeTerminalBridge.startTaskWithFile';
const FIX = 'claudeTerminalBridge.fixProblems';

interface Wanted {
  readonly uris: readonly vscode.Uri[];
  /** Whose folder is the one of the task, although the task is not about it. */
  readonly beside?: vscode.Uri | undefined;
  readonly topic: Omit<TaskTopic, 'files'>;
}

/** Starts tasks from the palette, from a selection, a file or a folder, and from problems. */
export function taskStarts(context: TaskContext): Disposable {
  const owned = new DisposableStore();
  const start = async ({ uris, beside, topic }: Wanted): Promise<void> => {
    const place = await placeOf(uris, beside);
    if (place === undefined) return;
    const { folder, files } = place;
    await startTask({
      topic: { ...topic, files },
      dialogs: dialogsFor(folder, context),
      start: (prompt, on_conflict) =>
        withProgress(async () => {
          // So that the task is shown where none was before.
          context.board.want();
          await connected(context);
          const started = await context.board.do({ type: 'task.start', path: folder, prompt, on_conflict });
          return started.task_id ?? '';
        }),
    });
  };
  const add = (command: string, wanted: (...args: readonly unknown[]) => Wanted): void => {
    owned.add(taskCommand(command, (...args) => start(wanted(...args))));
  };
  add(START, () => ({ uris: [], beside: activeFile(), topic: noTopic }));
  add(WITH_SELECTION, () => selected());
  add(WITH_FILE, (uri, all) => ({ uris: filesOf(uri, all), topic: noTopic }));
  add(FIX, (uri, diagnostics) => ({ uris: filesOf(uri), topic: problemsTopic(diagnosticsOf(diagnostics)) }));
  owned.add(fixActions(FIX));
  return owned;
}

/** Adds "Ask Claude to fix this" to every problem of a file, in the light bulb and in the view of problems. `command` gets the file and the diagnostics. */
function fixActions(command: string): Disposable {
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

function selected(): Wanted {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'file') throw new Error('No file on this machine is shown.');
  return { uris: [editor.document.uri], topic: selectionTopic(editor) };
}

/** The files of a menu; without a menu the one that is shown. Throws an error when there is none. */
function filesOf(uri: unknown, all?: unknown): readonly vscode.Uri[] {
  const given = Array.isArray(all) && all.length > 0 ? all : [uri ?? activeFile()];
  const files = given.filter((one): one is vscode.Uri => one instanceof vscode.Uri && one.scheme === 'file');
  if (files.length === 0) throw new Error('No file on this machine is chosen.');
  return files;
}

function activeFile(): vscode.Uri | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri?.scheme === 'file' ? uri : undefined;
}

function diagnosticsOf(value: unknown): readonly vscode.Diagnostic[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [];
  const found = all.filter(isDiagnostic);
  if (found.length === 0) throw new Error('No problem is chosen.');
  return found;
}

/** Some extensions make theirs without the class. */
function isDiagnostic(value: unknown): value is vscode.Diagnostic {
  return typeof value === 'object' && value !== null && 'message' in value && 'range' in value;
}

async function withProgress(run: () => Promise<string>): Promise<string> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: 'Starting a task…' },
    run,
  );
}
