import type { BridgeOptions } from '../bridge.js';
import { ProjectExplorer } from '../files/project-explorer.js';
import { gitEnvironment } from '../git/git-environment.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import { gitSurroundings } from './git-surroundings.js';

export function createExplorerService(
  options: BridgeOptions,
  roots: AllowedRoots,
  activeProject: ActiveProject,
): ProjectExplorer {
  return new ProjectExplorer({
    opener: new PathOpener(roots),
    roots,
    activeProject,
    gitEnvironment: () => gitEnvironment(gitSurroundings(options), {}, []),
    defaultDepth: options.config.default_tree_depth,
  });
}
