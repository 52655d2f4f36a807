import { dirname, join, resolve } from 'node:path';
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

/** Folders and files in the project that the config of a repository makes git use: hooks, and files that it includes at any depth. */
export async function obeyedPaths(gitFolder: string, projectPath: string): Promise<string[]> {
  const isInside = (path: string): boolean => path.startsWith(`${projectPath}/`);
  // Paths of hooks are relative to the top of the repository, those of included files to the file that names them.
  const top = isInside(gitFolder) ? dirname(gitFolder) : projectPath;
  const settings = '^(core\\.hookspath|include(if\\..*)?\\.path)$';
  const options = ['--includes', '--show-origin', '--null', '--path', '--get-regexp', settings];
  const entries = await gitSays('/', [`--git-dir=${gitFolder}`, 'config', ...options], '\0');
  return entries
    .flatMap((entry, at) => {
      if (at % 2 === 0) return [];
      const file = (entries[at - 1] ?? '').replace(/^file:/, '');
      const [key = '', path = ''] = entry.split('\n', 2);
      return [resolve(key === 'core.hookspath' ? top : dirname(file), path)];
    })
    .filter(isInside);
}

async function textIn(path: string): Promise<string | undefined> {
  const read = await readRegularFile(path, MAX_BYTES);
  return read.state === 'ok' ? read.bytes.toString('utf8') : undefined;
}
