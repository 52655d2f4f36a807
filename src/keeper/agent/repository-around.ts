import { isAbsolute, join, resolve } from 'node:path';
import { readRegularFile } from '../../base/files/regular-file.js';
import { gitSays } from './configured-paths.js';

const MAX_BYTES = 4_096;

export interface RepositoryAround {
  /** The worktree's own folder in the repository. */
  readonly gitFolder: string;
  /** The folder of the repository, which all its worktrees share. */
  readonly commonFolder: string;
}

/**
 * The git folders of a project that is a git worktree; undefined for any other project. As in git, the repository must name the
 * worktree, too: gitrepository-layout(5).
 */
export async function repositoryAround(projectPath: string): Promise<RepositoryAround | undefined> {
  const pointer = join(projectPath, '.git');
  const [, named] = /^gitdir: (.+)$/m.exec((await textIn(pointer)) ?? '') ?? [];
  if (named === undefined) return undefined;
  const gitFolder = resolve(projectPath, named);
  const back = (await textIn(join(gitFolder, 'gitdir')))?.trim();
  const common = (await textIn(join(gitFolder, 'commondir')))?.trim();
  if (back === undefined || common === undefined) return undefined;
  if (resolve(gitFolder, back) !== pointer) return undefined;
  return { gitFolder, commonFolder: resolve(gitFolder, common) };
}

/** Folders and files in the project that the config of its repository makes git use: hooks, and included config files. */
export async function obeyedPaths(gitFolder: string, projectPath: string): Promise<string[]> {
  const file = join(gitFolder, 'config');
  const hooks = await configured(file, 'core.hooksPath');
  const included = await configured(file, 'include.path');
  return [
    // Paths of hooks are relative to the top of the project, those of included files to the config.
    ...hooks.map((path) => resolve(projectPath, path)),
    ...included.map((path) => (isAbsolute(path) ? path : resolve(gitFolder, path))),
  ].filter((path) => path.startsWith(`${projectPath}/`));
}

/** The values of a setting in one config file, without included files; none when git cannot read it. */
async function configured(file: string, name: string): Promise<string[]> {
  const args = ['config', '--file', file, '--no-includes', '--null', '--path', '--get-all', name];
  return (await gitSays('/', args, '\0')).filter((value) => value !== '');
}

async function textIn(path: string): Promise<string | undefined> {
  const read = await readRegularFile(path, MAX_BYTES);
  return read.state === 'ok' ? read.bytes.toString('utf8') : undefined;
}
