import { systemClock } from '../base/system-clock.js';
import { stateDirectory } from '../config/places.js';
import { EditorTerminals } from '../editor/editor-terminals.js';
import { FilesystemService } from '../files/filesystem-service.js';
import { ProjectExplorer } from '../files/project-explorer.js';
import { queryEnvironment } from '../git/run/git-environment.js';
import { gitRunner } from '../git/run/run-git.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import { gitContext } from './git-services.js';
import type { BridgeOptions } from './open-state.js';

/** Permissions of a new file, less the umask: as any program makes it. */
const NEW_FILE_MODE = 0o666;

export function createFileService(options: BridgeOptions, roots: AllowedRoots, activeProject: ActiveProject) {
  return new FilesystemService({
    roots,
    opener: new PathOpener(roots),
    activeProject,
    clock: systemClock,
    headerLines: options.config.default_header_lines,
    allowProtectedWrites: options.config.allow_protected_writes,
    newFileMode: NEW_FILE_MODE & ~process.umask(),
  });
}

export function createExplorer(options: BridgeOptions, roots: AllowedRoots, activeProject: ActiveProject) {
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

/** The terminals of windows of VS Code that are open beside this state directory. */
export function createTerminals(options: BridgeOptions, roots: AllowedRoots, project: ActiveProject) {
  const statePath = stateDirectory(options.config, options);
  return new EditorTerminals({ statePath, clock: systemClock, project, roots });
}
