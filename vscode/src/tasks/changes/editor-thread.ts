import * as vscode from 'vscode';
import type { CommentView, ThreadView } from './comment-threads.js';
import type { ShownThread } from './shown-threads.js';

/** Of `package.json`: which buttons a thread and a comment have. */
const HAS_DRAFTS = 'drafts';
const REMOVABLE = 'removable';

/** A comment as the editor shows it. */
export class TaskComment implements vscode.Comment {
  readonly taskId: string;
  readonly commentId: string;
  /** Plain text: nothing of it is taken as Markdown. */
  readonly body: string;
  readonly mode = vscode.CommentMode.Preview;
  readonly author = { name: 'You' };
  readonly label: string;
  readonly contextValue: string;

  constructor(taskId: string, { id, text, label, isRemovable }: CommentView) {
    this.taskId = taskId;
    this.commentId = id;
    this.body = text;
    this.label = label;
    this.contextValue = isRemovable ? REMOVABLE : '';
  }
}

/** A thread of the editor, as part of `ShownThreads`. */
export function editorThread(thread: vscode.CommentThread, taskId: () => string): ShownThread {
  let before = '';
  return {
    show: (view: ThreadView) => {
      const now = JSON.stringify(view);
      if (now === before) return;
      if (before === '') thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
      before = now;
      thread.range = lineRange(view.line);
      thread.label = view.label;
      thread.contextValue = view.hasDrafts ? HAS_DRAFTS : '';
      thread.comments = view.comments.map((comment) => new TaskComment(taskId(), comment));
    },
    dispose: () => thread.dispose(),
  };
}

/** Lines counted from 1. */
export function lineRange(first: number, last = first): vscode.Range {
  return new vscode.Range(first - 1, 0, last - 1, 0);
}
