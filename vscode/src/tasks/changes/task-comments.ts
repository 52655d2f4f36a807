import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../../../src/base/lifecycle.js';
import type { BoardConnection } from '../../board/board-connection.js';
import { taskCommands } from '../task-part.js';
import { commentableLines, quotedLine } from './changed-lines.js';
import { threadsOf } from './comment-threads.js';
import { documentOf, TASK_SCHEME, type Side } from './document-uri.js';
import { editorThread, lineRange, type TaskComment } from './editor-thread.js';
import type { FollowedDiffs } from './followed-diffs.js';
import type { OpenChange, OpenChanges } from './open-changes.js';
import { ShownThreads, type ShownThread } from './shown-threads.js';

export interface TaskCommentsOptions {
  readonly diffs: FollowedDiffs;
  readonly open: OpenChanges;
  readonly board: Pick<BoardConnection, 'act'>;
}

type ChangeSide = OpenChange & { readonly side: Side };

/** Comments on the lines of open diffs. */
export class TaskComments implements Disposable {
  readonly #options: TaskCommentsOptions;
  readonly #owned = new DisposableStore();
  readonly #controller: vscode.CommentController;
  readonly #threads: ShownThreads;
  /** Where comments can be written now. */
  #ranges = '';
  readonly #byEditor = new WeakMap<vscode.CommentThread, ShownThread>();

  constructor(options: TaskCommentsOptions) {
    this.#options = options;
    this.#controller = this.#owned.add(vscode.comments.createCommentController(TASK_SCHEME, 'Claude tasks'));
    this.#controller.options = {
      prompt: 'Comment on this line for Claude',
      placeHolder: 'What should Claude do here?',
    };
    this.#threads = this.#owned.add(
      new ShownThreads((uri, line) =>
        this.#shown(this.#controller.createCommentThread(vscode.Uri.parse(uri), lineRange(line), [])),
      ),
    );
    const refresh = (): void => this.#refresh();
    this.#owned.add(options.diffs.onChange(refresh));
    this.#owned.add(options.open.onChange(refresh));
    this.#owned.add(
      vscode.workspace.onDidOpenTextDocument(({ uri }) => {
        // The boxes for comments are documents, too.
        if (this.#changeAt(uri) !== undefined) refresh();
      }),
    );
    this.#owned.add(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (!document.isDirty && this.#changeAt(document.uri) !== undefined) refresh();
      }),
    );
    this.#owned.add(vscode.workspace.onDidSaveTextDocument(refresh));
  }

  /** The task whose diff has this document. */
  taskAt(uri: vscode.Uri): string | undefined {
    return this.#changeAt(uri)?.taskId;
  }

  /** Stores what the person wrote. Throws BoardRefusal, and an error with what to do first. */
  async add({ thread, text }: vscode.CommentReply): Promise<void> {
    const { uri, range } = thread;
    const change = this.#changeAt(uri);
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    if (change === undefined || document === undefined || range === undefined)
      throw new Error('The diff of this file is not open any more. Open the changes of the task again.');
    if (document.isDirty)
      throw new Error('Save the file first: until then its lines have other numbers than those on disk.');
    if (text.trim() === '') throw new Error('Write the comment first.');
    const { taskId: task_id, file, side } = change;
    const line = range.end.line + 1;
    const shown = document.lineAt(range.end.line).text;
    const quoted = quotedLine(this.#fileOf(change), side, line, shown);
    const written = { document: uri.toString(), line, text };
    await this.#threads.write(written, this.#shown(thread), async () => {
      await this.#options.board.act({ type: 'review.add', task_id, file, side, line, quoted, text });
    });
  }

  /** Takes a comment away that was not sent. Throws BoardRefusal. */
  async remove({ taskId: task_id, commentId: comment_id }: TaskComment): Promise<void> {
    await this.#options.board.act({ type: 'review.remove', task_id, comment_id });
  }

  /** Sends all comments of a task that were not sent, and shows the task that was started for them. Throws BoardRefusal. */
  async send(taskId: string): Promise<void> {
    const { task_id: started } = await this.#options.board.act({ type: 'review.submit', task_id: taskId });
    if (started !== undefined) await vscode.commands.executeCommand(taskCommands.show, started);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #refresh(): void {
    const documents = new Set<string>();
    const ranges: unknown[] = [];
    for (const document of vscode.workspace.textDocuments) {
      const change = this.#changeAt(document.uri);
      const state = change && this.#options.diffs.of(change.taskId);
      if (change === undefined || state === undefined) continue;
      const uri = document.uri.toString();
      const { lineCount } = document;
      const textAt = (line: number): string => document.lineAt(line - 1).text;
      documents.add(uri);
      ranges.push([uri, this.#rangesOf(document)]);
      this.#threads.sync(uri, threadsOf(state.comments, change, { lineCount, textAt }));
    }
    this.#threads.retain(documents);
    this.#offer(JSON.stringify(ranges));
  }

  /** The editor asks for the ranges again when it gets a provider, and then makes all boxes again. */
  #offer(ranges: string): void {
    if (ranges === this.#ranges) return;
    this.#ranges = ranges;
    this.#controller.commentingRangeProvider = {
      provideCommentingRanges: (document) => this.#rangesOf(document),
    };
  }

  #rangesOf(document: vscode.TextDocument): vscode.Range[] {
    const change = this.#changeAt(document.uri);
    const file = change && this.#fileOf(change);
    if (change === undefined || file === undefined) return [];
    return commentableLines(file, change.side)
      .filter(([first]) => first <= document.lineCount)
      .map(([first, last]) => lineRange(first, Math.min(last, document.lineCount)));
  }

  #changeAt(uri: vscode.Uri): ChangeSide | undefined {
    const document = documentOf(uri);
    if (document !== undefined) return this.#options.open.isOpen(document) ? document : undefined;
    const change = uri.scheme === 'file' ? this.#options.open.atPlace(uri.fsPath) : undefined;
    return change && { ...change, side: 'new' };
  }

  #fileOf({ taskId, file }: OpenChange) {
    return this.#options.diffs.of(taskId)?.files.find(({ path }) => path === file);
  }

  #shown(thread: vscode.CommentThread): ShownThread {
    const known = this.#byEditor.get(thread);
    if (known !== undefined) return known;
    const shown = editorThread(thread, () => this.taskAt(thread.uri) ?? '');
    this.#byEditor.set(thread, shown);
    return shown;
  }
}
