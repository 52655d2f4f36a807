import { ProjectExplorer } from '../files/project-explorer.js';
import { queryEnvironment } from '../git/run/git-environment.js';
import { gitRunner } from '../git/run/run-git.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import { gitContext } from './git-context.js';
import type { BridgeOptions } from './options.js';

export function createExplorerService(
  options: BridgeOptions,
  roots: AllowedRoots,
  activeProject: ActiveProject,
): ProjectExplorer {
  const context = gitContext(options);
  return new ProjectExplorer({
    opener: new PathOpener(roots),
    roots,
    activeProject,
    git: gitRunner(context),
    env: queryEnvironment(context),
    defaultDepth: options.config.default_tree_depth,
  });
}
