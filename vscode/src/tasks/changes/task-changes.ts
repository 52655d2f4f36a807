import * as vscode from 'vscode';
import { messageOf } from '../../../../src/base/errors.js';
import { DisposableStore } from '../../../../src/base/lifecycle.js';
import { shownCharacters } from '../../../../src/base/text/unseen-characters.js';
import type { DiffFile, DiffState } from '../../../../src/board/state.js';
import { showError, showInformation } from '../../messages.js';
import { taskCommands, taskIdOf, type TaskContext, type TaskPart } from '../task-part.js';
import { fileChoices, taskChoices, type Choice } from './choices.js';
import { FollowedDiffs } from './followed-diffs.js';
import { OpenChanges } from './open-changes.js';
import { openAllChanges, openChange } from './open-in-editor.js';
import { fileReader, until, wanted, type ReadFile } from './read-file.js';
import { taskDocuments } from './task-documents.js';

const TASKS_LIMIT_MS = 5_000;
const OPEN_CHANGES = 'claudeTerminalBridge.openTaskChanges';

interface Services {
  readonly context: TaskContext;
  readonly diffs: FollowedDiffs;
  readonly read: ReadFile;
}

/** What tasks changed, in the editor's own diff editor. */
export const taskChanges: TaskPart = (context) => {
  const { board, clock } = context;
  const owned = new DisposableStore();
  const diffs = owned.add(new FollowedDiffs(board, clock));
  const open = owned.add(new OpenChanges(diffs));
  const read = fileReader(board, clock);
  owned.add(taskDocuments({ diffs, open, read }));
  const services: Services = { context, diffs, read };
  owned.add(command(OPEN_CHANGES, (task) => chooseChange(services, taskIdOf(task))));
  owned.add(
    command(taskCommands.openChange, async (task, file) => {
      const taskId = taskIdOf(task);
      if (taskId === undefined || typeof file !== 'string') throw new Error('Which file of which task?');
      await withDiff(services, taskId, ({ files }) => openNamed(services, taskId, files, file));
    }),
  );
  return owned;
};

function command(id: string, run: (...given: readonly unknown[]) => Promise<void>): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (...given: readonly unknown[]) => {
    try {
      await run(...given);
    } catch (error) {
      void showError(messageOf(error));
    }
  });
}

async function chooseChange(services: Services, given: string | undefined): Promise<void> {
  const taskId = given ?? (await chooseTask(services));
  if (taskId === undefined) return;
  await withDiff(services, taskId, async (diff) => {
    const { files, notes, why } = diff;
    if (files.length === 0) {
      void showInformation(why ?? 'The task changed nothing.');
      return;
    }
    const all = { label: 'All files', description: `${files.length} files`, value: undefined };
    const choices: Choice<DiffFile | undefined>[] = [
      ...(files.length > 1 ? [all] : []),
      ...fileChoices(files),
    ];
    const chosen = await vscode.window.showQuickPick(choices, {
      title: 'Changes of a Claude task',
      placeHolder: notes.length === 0 ? 'Which file?' : shownCharacters(notes.join(' ')),
    });
    if (chosen === undefined) return;
    if (chosen.value === undefined) await openAllChanges(taskId, diff, services.read);
    else await openChange(taskId, chosen.value, services.read);
  });
}

async function chooseTask({ context: { board, clock } }: Services): Promise<string | undefined> {
  await wanted(board, clock);
  await until(board, clock, () => Object.keys(board.board.tasks).length > 0, TASKS_LIMIT_MS);
  const chosen = await vscode.window.showQuickPick(taskChoices(board.board), {
    title: 'Changes of a Claude task',
    placeHolder: 'Which task?',
    matchOnDetail: true,
  });
  return chosen?.value;
}

async function openNamed(
  services: Services,
  taskId: string,
  files: readonly DiffFile[],
  name: string,
): Promise<void> {
  const file = files.find(({ path }) => path === name);
  if (file === undefined) throw new Error(`${name} is not a file that the task changed.`);
  await openChange(taskId, file, services.read);
}

async function withDiff(
  { context: { board, clock }, diffs }: Services,
  taskId: string,
  use: (diff: DiffState) => Promise<void>,
): Promise<void> {
  await wanted(board, clock);
  const held = diffs.hold(taskId);
  try {
    await use(await held.ready);
  } finally {
    held.dispose();
  }
}
