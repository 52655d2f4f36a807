import { systemClock } from '../base/system-clock.js';
import { stateDirectory } from '../config/state-directory.js';
import { EditorTerminals } from '../editor/editor-terminals.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { BridgeOptions } from './options.js';

/** The terminals of windows of VS Code that are open beside this state directory. */
export function createEditorTerminals(
  options: BridgeOptions,
  roots: AllowedRoots,
  project: ActiveProject,
): EditorTerminals {
  const statePath = stateDirectory(options.config, options);
  return new EditorTerminals({ statePath, clock: systemClock, project, roots });
}
