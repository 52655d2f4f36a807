import { relative } from 'node:path';
import * as vscode from 'vscode';
import { showError, showInformation, showWarning } from '../../messages.js';
import { messageText } from '../../shown-text.js';
import { taskCommands, type TaskContext } from '../task-part.js';
import type { StartDialogs } from './start-task.js';

const TRUST = 'Manage Workspace Trust';
const SAVE = 'Save';
const DO_NOT_SAVE = 'Start Without Saving';
const QUEUE = 'Queue';
const WORKTREE = 'In a Worktree';
const SHOW_LOG = 'Show Log';
const OPEN_TERMINAL = 'Open Terminal';

/** The dialogs of the editor around a task that is started in a folder. */
export function dialogsFor(folder: string, { logger, showLog }: TaskContext): StartDialogs {
  return {
    isTrusted: () => vscode.workspace.isTrusted,
    untrusted: () => void askForTrust(),
    request: async (draft, about) =>
      vscode.window.showInputBox({
        title: 'Start a Task',
        prompt: messageText(
          about === '' ? 'What is Claude to do?' : `What is Claude to do? The prompt names ${about}.`,
        ),
        value: draft,
        ignoreFocusOut: true,
      }),
    save: () => offerToSave(folder),
    whenBusy: async (why) => {
      const choice = await showWarning(why, QUEUE, WORKTREE);
      return choice === QUEUE ? 'queue' : choice === WORKTREE ? 'worktree' : undefined;
    },
    failed: (why) => {
      logger.error('No task was started', { why });
      void showError(why, SHOW_LOG).then((choice) => choice && showLog());
    },
    started: (taskId) => void show(taskId),
  };
}

async function askForTrust(): Promise<void> {
  const choice = await showWarning(
    'A task runs Claude Code in this workspace, which you have not trusted yet. Trust it first.',
    TRUST,
  );
  if (choice === TRUST) await vscode.commands.executeCommand('workbench.trust.manage');
}

/** Claude reads what is on the disk. */
async function offerToSave(folder: string): Promise<boolean> {
  const unsaved = vscode.workspace.textDocuments.filter(
    ({ isDirty, uri }) => isDirty && uri.scheme === 'file' && isIn(folder, uri),
  );
  const [first] = unsaved;
  if (first === undefined) return true;
  const what =
    unsaved.length === 1 ? `${relative(folder, first.uri.fsPath)} is` : `${unsaved.length} files are`;
  const choice = await showWarning(`${what} not saved. Claude sees what is saved.`, SAVE, DO_NOT_SAVE);
  if (choice !== SAVE) return choice === DO_NOT_SAVE;
  for (const document of unsaved) {
    if (await document.save()) continue;
    const name = relative(folder, document.uri.fsPath);
    void showError(`${name} could not be saved, so no task was started.`);
    return false;
  }
  return true;
}

function isIn(folder: string, uri: vscode.Uri): boolean {
  return vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath === folder;
}

async function show(taskId: string): Promise<void> {
  try {
    await vscode.commands.executeCommand(taskCommands.show, taskId);
  } catch {
    // The view is not there: the settings switched the tasks off.
    const choice = await showInformation(`${taskId} was started.`, OPEN_TERMINAL);
    if (choice !== undefined) await vscode.commands.executeCommand(taskCommands.openTerminal, taskId);
  }
}
