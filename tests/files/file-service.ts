import type { Clock } from '../../src/base/clock.js';
import type { Once } from '../../src/base/once.js';
import { systemClock } from '../../src/base/system-clock.js';
import { BridgeError } from '../../src/base/errors.js';
import { FilesystemService } from '../../src/files/filesystem-service.js';
import { ActiveProject } from '../../src/projects/active-project.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { PathOpener } from '../../src/projects/path-opener.js';

export interface TestFiles {
  readonly files: FilesystemService;
  readonly activeProject: ActiveProject;
}

/** A service over real files below `root`. */
export function filesAt(
  root: string,
  options: {
    readonly allowProtectedWrites?: boolean;
    readonly clock?: Clock;
    readonly headerLines?: number;
    readonly once?: Once;
  } = {},
): TestFiles {
  const roots = new AllowedRoots([root], root);
  const activeProject = new ActiveProject(roots);
  const files = new FilesystemService({
    roots,
    opener: new PathOpener(roots),
    activeProject,
    clock: options.clock ?? systemClock,
    headerLines: options.headerLines ?? 3,
    allowProtectedWrites: options.allowProtectedWrites ?? false,
    newFileMode: 0o644,
    once: options.once ?? (async (_id, _asked, _shapes, act) => act(() => Promise.resolve())),
  });
  return { files, activeProject };
}

/** The error of a call that must fail by one of the bridge's own. */
export async function faultOf(promise: Promise<unknown>): Promise<BridgeError> {
  try {
    await promise;
  } catch (thrown) {
    if (thrown instanceof BridgeError) return thrown;
    throw thrown;
  }
  throw new Error('Nothing was thrown.');
}
