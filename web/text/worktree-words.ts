import type { WorktreeEnd } from '../../src/board/state.js';

const SHORT_HASH = 8;

/** In one word: what became of a worktree. */
export const endWords: Readonly<Record<WorktreeEnd['action'], string>> = {
  merge: 'merged',
  apply: 'applied',
  discard: 'discarded',
  undo: 'undone',
};

/** What became of the work of a task, and where it is. */
export function finishWords({ action, result }: WorktreeEnd): string {
  if (action === 'undo') return 'What it changed was undone; new files and commits stay.';
  if (result === '') return 'The worktree is finished; git saw no work in it.';
  if (action === 'merge') return `Merged as ${result.slice(0, SHORT_HASH)}.`;
  if (action === 'apply') return `Applied as uncommitted changes; a copy is kept at ${result}.`;
  return `Discarded; kept at ${result}. To have it back: git branch back ${result}`;
}
