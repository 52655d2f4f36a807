// Pure: the environment variables with which git runs. From the server's environment they take only the paths below.
import { delimiter, isAbsolute } from 'node:path';

/** The part of the server's environment that git may see. */
export interface GitContext {
  readonly path: string | undefined;
  readonly homeDir: string;
  readonly xdgConfigHome: string | undefined;
}

/** No transport has this name, so git refuses every transport, whatever `protocol.<name>.allow` says. */
const NO_PROTOCOL = 'none';

/** The only folders from which git reads settings, instead of those of the user and of the repository. */
export interface GitFolders {
  readonly home: string;
  /** Used instead of the common folder that a repository shares among its working trees. */
  readonly common: string;
}

export function gitEnvironment(
  path: string | undefined,
  { home, common }: GitFolders,
): Record<string, string> {
  return {
    ...safeVariables(path),
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_COMMON_DIR: common,
  };
}

/** Only for `git config --list` and `git rev-parse`, which run no programs: it includes the user's and the repository's settings. */
export function queryEnvironment(context: GitContext): Record<string, string> {
  const { path, homeDir, xdgConfigHome } = context;
  return {
    ...safeVariables(path),
    HOME: homeDir,
    ...(xdgConfigHome !== undefined && { XDG_CONFIG_HOME: xdgConfigHome }),
  };
}

function safeVariables(path: string | undefined): Record<string, string> {
  return {
    PATH: absoluteFolders(path).join(delimiter),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    // What the repository holds, and not what a replacement shows instead.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_ALLOW_PROTOCOL: NO_PROTOCOL,
    GIT_PAGER: 'cat',
    GIT_ASKPASS: 'true',
    GIT_SSH_COMMAND: 'false',
    GIT_EDITOR: 'false',
  };
}

/** Removes relative folders from PATH, which would be searched in the repository. */
function absoluteFolders(path: string | undefined): string[] {
  return (path ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter).filter((folder) => isAbsolute(folder));
}
