import { ProjectExplorer } from '../files/project-explorer.js';
import { openFolderGit } from '../git/folder-git.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import { gitSurroundings } from './git-surroundings.js';
import type { BridgeOptions } from './options.js';

export function createExplorerService(
  options: BridgeOptions,
  roots: AllowedRoots,
  activeProject: ActiveProject,
): ProjectExplorer {
  return new ProjectExplorer({
    opener: new PathOpener(roots),
    roots,
    activeProject,
    openGit: (cwd, signal) => openFolderGit(gitSurroundings(options), cwd, signal),
    defaultDepth: options.config.default_tree_depth,
  });
}
