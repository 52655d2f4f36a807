// Pure: what a page and the editor say of a comment.
import type { ReviewComment } from './state.js';

/** What became of a comment. */
export const reviewWords: Readonly<Record<ReviewComment['state'], string>> = {
  draft: 'Not sent yet.',
  sent: 'Sent.',
  answered: 'Answered: the line has changed since.',
  unsure: 'Perhaps sent: the board ended meanwhile. The timeline shows whether it arrived.',
};

/** Whether a comment can be taken away: one that has certainly been sent cannot. */
export function isRemovable({ state }: Pick<ReviewComment, 'state'>): boolean {
  return state === 'draft' || state === 'unsure';
}
