import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { COMMON_FOLDER } from '../../approvals/sandbox-paths.js';
import { systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import { gitSays } from './configured-paths.js';

const MAX_BYTES = 4_096;
/** What the file `commondir` of a main checkout says of it: that its folder is the repository's. */
const OWN_FOLDER = '.\n';

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
  const common = (await textIn(join(gitFolder, COMMON_FOLDER)))?.trim();
  if (back === undefined || common === undefined || resolve(gitFolder, back) !== pointer) return undefined;
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

/**
 * The file `commondir` of a repository names a folder whose config git uses instead of the repository's own. A sandbox can
 * protect only a file that exists, so this creates one that names the repository itself. The last task that uses it removes it: in
 * `notesFolder`, tasks note which repositories they use, and the notes of those that no longer `mayRun` are removed.
 */
export function commonFolders({
  gitFolders,
  taskId,
  notesFolder,
  mayRun,
}: {
  readonly gitFolders: readonly string[];
  readonly taskId: string;
  readonly notesFolder: string;
  readonly mayRun: (taskId: string) => Promise<boolean>;
}) {
  const places = gitFolders.map((gitFolder) => {
    const name = createHash('sha256').update(gitFolder).digest('hex').slice(0, 32);
    return { file: join(gitFolder, COMMON_FOLDER), notes: join(notesFolder, name) };
  });
  return {
    /** Called before each command, since another task may just have removed the file. */
    hold: async (): Promise<void> => {
      for (const { file, notes } of places) {
        await mkdir(notes, { recursive: true, mode: 0o700 });
        await writeFile(join(notes, taskId), '');
        // It exists, or the folder is not a repository.
        await writeFile(file, OWN_FOLDER, { flag: 'wx' }).catch(unless('EEXIST', 'ENOENT', 'ENOTDIR'));
      }
    },
    release: async (): Promise<void> => {
      for (const { file, notes } of places) {
        await rm(join(notes, taskId), { force: true });
        let isHeld = false;
        for (const other of (await readdir(notes).catch(unless('ENOENT'))) ?? []) {
          if (await mayRun(other)) isHeld = true;
          else await rm(join(notes, other), { force: true });
        }
        if (isHeld) continue;
        // Git itself writes no such file into a main checkout.
        if ((await textIn(file).catch(unless('ENOTDIR'))) === OWN_FOLDER) await rm(file, { force: true });
        // Another task may have begun to use it.
        await rmdir(notes).catch(unless('ENOTEMPTY', 'EEXIST', 'ENOENT'));
      }
    },
  };
}

function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(systemCodeOf(error) ?? '')) throw error;
  };
}
