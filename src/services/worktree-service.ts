import { gitRunner } from '../git/run/run-git.js';
import { Worktrees } from '../git/worktree/worktrees.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { gitContext } from './git-context.js';
import type { BridgeOptions } from './options.js';

export function createWorktrees(options: BridgeOptions, roots: AllowedRoots): Worktrees {
  return new Worktrees({ roots, runner: gitRunner(gitContext(options)) });
}
