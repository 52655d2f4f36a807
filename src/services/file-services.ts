import { lazily } from '../base/lifecycle.js';
import { systemClock } from '../base/system-clock.js';
import { FilesystemService } from '../files/filesystem-service.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import type { BridgeOptions } from './open-state.js';

/** Permissions of a new file, less the umask: as any program makes it. */
const NEW_FILE_MODE = 0o666;

/** What the bridge does with single files in the allowed roots, apart from git: a first call loads a fifth of the code. */
export function filesIn(options: BridgeOptions, roots: AllowedRoots, activeProject: ActiveProject) {
  const { config } = options;
  // Without an id, a write needs no state directory.
  const requests = lazily(async () => {
    const [{ openState }, { Requests }] = await Promise.all([
      import('./open-state.js'),
      import('../store/requests.js'),
    ]);
    return new Requests((await openState(options)).stateDir.path, systemClock);
  });
  return new FilesystemService({
    ...{ roots, opener: new PathOpener(roots), activeProject, clock: systemClock },
    headerLines: config.default_header_lines,
    allowProtectedWrites: config.allow_protected_writes,
    newFileMode: NEW_FILE_MODE & ~process.umask(),
    once: async (id, asked, shapes, act) =>
      id === undefined ? act(() => Promise.resolve()) : (await requests()).once(id, asked, shapes, act),
  });
}
