import { systemClock } from '../base/system-clock.js';
import { FilesystemService } from '../files/filesystem-service.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import type { BridgeOptions } from './open-state.js';

/** Permissions of a new file, less the umask: as any program makes it. */
const NEW_FILE_MODE = 0o666;

/** What the bridge does with single files in the allowed roots, apart from git: a first call loads a fifth of the code. */
export function filesIn({ config }: BridgeOptions, roots: AllowedRoots, activeProject: ActiveProject) {
  return new FilesystemService({
    ...{ roots, opener: new PathOpener(roots), activeProject, clock: systemClock },
    headerLines: config.default_header_lines,
    allowProtectedWrites: config.allow_protected_writes,
    newFileMode: NEW_FILE_MODE & ~process.umask(),
  });
}
