import * as vscode from 'vscode';
import { DisposableStore } from '../../../../src/base/lifecycle.js';
import { shownCharacters } from '../../../../src/base/text.js';
import type { DiffFile } from '../../../../src/board/state.js';
import { showInformation } from '../../messages.js';
import { chooseTask, currentDiff, fileReader, type ReadFile } from '../ask-board.js';
import { taskIdOf } from '../task-choices.js';
import { taskCommand, taskCommands, type TaskContext, type TaskPart } from '../task-part.js';
import { fileChoices, type Choice } from './changed-file.js';
import { openAllChanges, openChange, taskDocuments } from './open-changes.js';

/** What tasks changed, in the editor's own diff editor. */
export const taskChanges: TaskPart = (context) => {
  const owned = new DisposableStore();
  const read = fileReader(context);
  owned.add(taskDocuments(read));
  owned.add(
    taskCommand(taskCommands.openChanges, async (task) => {
      const taskId = taskIdOf(task) ?? (await chooseTask(context, 'Changes of a Claude task', 'started'));
      if (taskId !== undefined) await chooseChange(context, taskId, read);
    }),
  );
  owned.add(
    taskCommand(taskCommands.openChange, async (task, name) => {
      const taskId = taskIdOf(task);
      if (taskId === undefined || typeof name !== 'string') throw new Error('Which file of which task?');
      const { files } = await currentDiff(context, taskId);
      const file = files.find(({ path }) => path === name);
      if (file === undefined) throw new Error(`${name} is not a file that the task changed.`);
      await openChange(taskId, file, read);
    }),
  );
  return owned;
};

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
