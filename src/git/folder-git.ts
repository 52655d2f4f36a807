import { BridgeError } from '../base/errors.js';
import { askingEnvironment, gitEnvironment, type GitSurroundings } from './git-environment.js';
import { noSettings, type GitSettings } from './git-settings.js';
import { makeOwnSettings } from './own-settings.js';
import { gitRunner } from './run-git.js';

/** How git is run in a folder, whatever its repository's settings become meanwhile. */
export interface FolderGit {
  readonly env: Readonly<Record<string, string>>;
  /** For `git config --list` alone, which starts nothing: all settings of the user and of the repository count. */
  readonly askingEnv: Readonly<Record<string, string>>;
  /** Once no git of it runs any more. */
  dispose(): Promise<void>;
}

/**
 * Belongs to the caller. `cwd` is undefined where there is no repository; there, and where there is no git, `env` is one in which
 * git finds none. Throws GIT_FAILED.
 */
export async function openFolderGit(
  surroundings: GitSurroundings,
  cwd: string | undefined,
  signal: AbortSignal,
): Promise<FolderGit> {
  const found = cwd === undefined ? undefined : await repositoryAt(surroundings, cwd, signal);
  const own = await makeOwnSettings(found?.settings ?? noSettings, found?.commonDir);
  return {
    env: gitEnvironment(surroundings.path, own),
    askingEnv: askingEnvironment(surroundings),
    dispose: own.dispose,
  };
}

async function repositoryAt(
  surroundings: GitSurroundings,
  cwd: string,
  signal: AbortSignal,
): Promise<{ readonly commonDir: string; readonly settings: GitSettings } | undefined> {
  const runner = gitRunner(surroundings);
  try {
    const commonDir = await runner.commonDir({ cwd, signal });
    if (commonDir === undefined) return undefined;
    return { commonDir, settings: await runner.settings({ cwd, signal }) };
  } catch (fault) {
    if (fault instanceof BridgeError && fault.code === 'GIT_NOT_FOUND') return undefined;
    throw fault;
  }
}
