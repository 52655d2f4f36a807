import * as vscode from 'vscode';
import { messageOf } from '../../../../src/base/errors.js';
import { DisposableStore } from '../../../../src/base/lifecycle.js';
import { shownCharacters } from '../../../../src/base/text/unseen-characters.js';
import type { DiffFile, DiffState } from '../../../../src/board/state.js';
import { showError, showInformation } from '../../messages.js';
import { taskCommands, taskIdOf, type TaskContext, type TaskPart } from '../task-part.js';
import { fileChoices, taskChoices, type Choice } from './choices.js';
import { TaskComment } from './editor-thread.js';
import { FollowedDiffs } from './followed-diffs.js';
import { OpenChanges } from './open-changes.js';
import { openAllChanges, openChange, type OpenOptions } from './open-in-editor.js';
import { connected, fileReader, until } from './read-file.js';
import { TaskComments } from './task-comments.js';
import { taskDocuments } from './task-documents.js';

const TASKS_LIMIT_MS = 5_000;
const OPEN_CHANGES = 'claudeTerminalBridge.openTaskChanges';
const ADD_COMMENT = 'claudeTerminalBridge.addTaskComment';
const REMOVE_COMMENT = 'claudeTerminalBridge.removeTaskComment';
const SEND_COMMENTS = 'claudeTerminalBridge.sendTaskComments';

interface Services extends OpenOptions {
  readonly context: TaskContext;
  readonly diffs: FollowedDiffs;
  readonly comments: TaskComments;
}

/** What tasks changed, in the editor's own diff editor, with comments on lines. */
export const taskChanges: TaskPart = (context) => {
  const { board, clock, logger } = context;
  const owned = new DisposableStore();
  const diffs = owned.add(new FollowedDiffs(board, clock));
  const open = owned.add(new OpenChanges(diffs));
  const comments = owned.add(new TaskComments({ diffs, open, board }));
  const read = fileReader(board, clock);
  owned.add(taskDocuments({ diffs, open, read, logger }));
  const services: Services = { context, diffs, open, read, comments };
  owned.add(command(OPEN_CHANGES, (task) => chooseChange(services, taskIdOf(task))));
  owned.add(
    command(taskCommands.openChange, async (task, file) => {
      const taskId = taskIdOf(task);
      if (taskId === undefined || typeof file !== 'string') throw new Error('Which file of which task?');
      await withDiff(services, taskId, ({ files }) => openNamed(services, taskId, files, file));
    }),
  );
  owned.add(
    vscode.commands.registerCommand(ADD_COMMENT, async (reply: vscode.CommentReply | undefined) => {
      try {
        if (reply !== undefined) await comments.add(reply);
      } catch (error) {
        report(error);
        // So the editor leaves the text in its box.
        throw error;
      }
    }),
  );
  owned.add(
    command(REMOVE_COMMENT, async (comment) => {
      if (comment instanceof TaskComment) await comments.remove(comment);
    }),
  );
  owned.add(
    command(SEND_COMMENTS, async (about) => {
      const taskId = await taskToSend(services, about);
      if (taskId !== undefined) await comments.send(taskId);
    }),
  );
  return owned;
};

function command(id: string, run: (...given: readonly unknown[]) => Promise<void>): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (...given: readonly unknown[]) => {
    try {
      await run(...given);
    } catch (error) {
      report(error);
    }
  });
}

function report(error: unknown): void {
  void showError(messageOf(error));
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
    if (chosen.value === undefined) await openAllChanges(taskId, diff, services);
    else await openChange(taskId, chosen.value, services);
  });
}

async function chooseTask({ context: { board, clock } }: Services): Promise<string | undefined> {
  await connected(board, clock);
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
  await openChange(taskId, file, services);
}

async function withDiff(
  { context: { board, clock }, diffs }: Services,
  taskId: string,
  use: (diff: DiffState) => Promise<void>,
): Promise<void> {
  await connected(board, clock);
  const held = diffs.hold(taskId);
  try {
    await use(await held.ready);
  } finally {
    held.dispose();
  }
}

/** Of a thread, of an id, of the diff in front, or of the open diff whose comments wait. Throws when there is none. */
async function taskToSend(
  { diffs, comments, context }: Services,
  about: unknown,
): Promise<string | undefined> {
  const given = taskIdOf(about);
  if (given !== undefined) return given;
  const uri = uriOfThread(about) ?? vscode.window.activeTextEditor?.document.uri;
  const ofUri = uri && comments.taskAt(uri);
  if (ofUri !== undefined) return ofUri;
  const waiting = diffs.taskIds.filter((id) => diffs.of(id)?.comments.some(({ state }) => state === 'draft'));
  if (waiting.length === 0) throw new Error('No comment waits to be sent in an open diff of a task.');
  if (waiting.length === 1) return waiting[0];
  const chosen = await vscode.window.showQuickPick(
    taskChoices(context.board.board).filter(({ value }) => waiting.includes(value)),
    { title: 'Send Comments to Claude', placeHolder: 'Of which task?' },
  );
  return chosen?.value;
}

function uriOfThread(about: unknown): vscode.Uri | undefined {
  const isThread = typeof about === 'object' && about !== null && 'uri' in about;
  return isThread && about.uri instanceof vscode.Uri ? about.uri : undefined;
}
