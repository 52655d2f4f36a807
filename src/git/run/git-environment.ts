// Pure: the environments in which git runs. Nothing of them comes from outside but where programs and the user's settings lie.
import { delimiter, isAbsolute } from 'node:path';

/** What of the server's own environment git gets to know. */
export interface GitSurroundings {
  readonly path: string | undefined;
  readonly homeDir: string;
  readonly xdgConfigHome: string | undefined;
}

/** A transport of this name does not exist: every one is refused, whatever `protocol.<name>.allow` says. */
const NO_PROTOCOL = 'none';

/** Where git finds settings, and nothing else: neither those of the user nor those of the repository. */
export interface GitFolders {
  readonly home: string;
  /** In the place of the folder that a repository shares among its working trees. */
  readonly common: string;
}

export function gitEnvironment(
  path: string | undefined,
  { home, common }: GitFolders,
): Record<string, string> {
  return {
    ...quiet(path),
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_COMMON_DIR: common,
  };
}

/** For `git config --list` and `git rev-parse` alone, which start nothing: the settings of the user and of the repository count. */
export function askingEnvironment(surroundings: GitSurroundings): Record<string, string> {
  const { path, homeDir, xdgConfigHome } = surroundings;
  return {
    ...quiet(path),
    HOME: homeDir,
    ...(xdgConfigHome !== undefined && { XDG_CONFIG_HOME: xdgConfigHome }),
  };
}

function quiet(path: string | undefined): Record<string, string> {
  return {
    PATH: absoluteFolders(path).join(delimiter),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: NO_PROTOCOL,
    GIT_PAGER: 'cat',
    GIT_ASKPASS: 'true',
    GIT_SSH_COMMAND: 'false',
    GIT_EDITOR: 'false',
  };
}

/** A relative folder of PATH would be looked for in the repository. */
export function absoluteFolders(path: string | undefined): string[] {
  return (path ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter).filter((folder) => isAbsolute(folder));
}
