import { GitService } from '../git/git-service.js';
import { gitRunner } from '../git/run/run-git.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { gitContext } from './git-context.js';
import type { BridgeOptions } from './options.js';

export function createGitService(
  options: BridgeOptions,
  roots: AllowedRoots,
  activeProject: ActiveProject,
): GitService {
  return new GitService({
    roots,
    activeProject,
    runner: gitRunner(gitContext(options)),
    maxDiffBytes: options.config.max_diff_size_bytes,
  });
}
