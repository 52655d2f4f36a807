import { gitRunner } from '../git/run/run-git.js';
import { undoChanges, type UndoQuery, type UndoReport } from '../git/state/undo-changes.js';
import { Worktrees } from '../git/worktree/worktrees.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { gitContext } from './git-context.js';
import type { BridgeOptions } from './options.js';

export function createWorktrees(options: BridgeOptions, roots: AllowedRoots): Worktrees {
  return new Worktrees({ roots, runner: gitRunner(gitContext(options)) });
}

/** Takes back what a task changed in a shared folder; throws as `undoChanges`. */
export function undo(options: BridgeOptions, roots: AllowedRoots, query: UndoQuery): Promise<UndoReport> {
  return undoChanges({ roots, runner: gitRunner(gitContext(options)) }, query);
}
