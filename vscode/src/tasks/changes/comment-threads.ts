import { shownCharacters } from '../../../../src/base/text/unseen-characters.js';
import { isRemovable, reviewWords } from '../../../../src/board/review-words.js';
import type { ReviewComment } from '../../../../src/board/state.js';
import { isSameLine } from './changed-lines.js';
import type { Side } from './document-uri.js';

/** A document, line by line. */
export interface LinesOfDocument {
  readonly lineCount: number;
  /** `line` counts from 1. */
  readonly textAt: (line: number) => string;
}

export interface CommentView {
  readonly id: string;
  readonly text: string;
  /** What became of it. */
  readonly label: string;
  readonly isRemovable: boolean;
}

/** All comments on a line. */
export interface ThreadView {
  /** From 1 on. */
  readonly line: number;
  readonly label: string;
  readonly hasDrafts: boolean;
  readonly comments: readonly CommentView[];
}

/** The threads on one side of a file. A comment whose line has moved or changed stands at its number and quotes what it was about. */
export function threadsOf(
  comments: readonly ReviewComment[],
  { file, side }: { readonly file: string; readonly side: Side },
  document: LinesOfDocument,
): readonly ThreadView[] {
  const byLine = new Map<number, ReviewComment[]>();
  for (const comment of comments) {
    if (comment.file !== file || comment.side !== side) continue;
    const line = Math.min(comment.line, Math.max(1, document.lineCount));
    byLine.set(line, [...(byLine.get(line) ?? []), comment]);
  }
  return [...byLine].map(([line, own]) => {
    const drafts = own.filter(({ state }) => state === 'draft').length;
    return {
      line,
      label: `${drafts} to send, ${own.length - drafts} sent`,
      hasDrafts: drafts > 0,
      comments: own.map((comment) => viewOf(comment, line, document)),
    };
  });
}

function viewOf(comment: ReviewComment, line: number, document: LinesOfDocument): CommentView {
  const isThere = comment.line === line && isSameLine(comment.quoted, document.textAt(line));
  const about = isThere ? '' : `On line ${comment.line}, which was: ${comment.quoted}\n`;
  return {
    id: comment.comment_id,
    text: shownCharacters(`${about}${comment.text}`),
    label: reviewWords[comment.state],
    isRemovable: isRemovable(comment),
  };
}
