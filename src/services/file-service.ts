import { systemClock } from '../base/system-clock.js';
import type { Config } from '../config/schema.js';
import { FilesystemService } from '../files/filesystem-service.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';

/** Permissions of a new file, less the umask: as any program makes it. */
const NEW_FILE_MODE = 0o666;

export function createFileService(
  config: Config,
  roots: AllowedRoots,
  activeProject: ActiveProject,
): FilesystemService {
  return new FilesystemService({
    roots,
    opener: new PathOpener(roots),
    activeProject,
    clock: systemClock,
    headerLines: config.default_header_lines,
    allowProtectedWrites: config.allow_protected_writes,
    newFileMode: NEW_FILE_MODE & ~process.umask(),
  });
}
