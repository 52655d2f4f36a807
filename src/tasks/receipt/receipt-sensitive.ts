// Pure: which of the files that a task changed hold secrets, or run or instruct something later.
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { runsLater } from '../../projects/live-names.js';
import { isSecret } from '../../projects/secret-names.js';
import type { GitReport, SeenFile, SensitiveFile } from './receipt.js';

const MAX_FILES = 200;

/**
 * Files by the two lists of names, each once; at most 200. `files`: what tools wrote. Plans that Claude Code wrote into `configDir`, its
 * own folder, are left out.
 */
export function sensitiveFiles(
  projectPath: string,
  files: readonly SeenFile[],
  git: GitReport,
  configDir?: string,
): SensitiveFile[] {
  const written = files.map(({ path }) => resolve(projectPath, path));
  const paths = git.state === 'repository' ? [...git.files.map(({ path }) => path), ...git.ignored] : [];
  const seen = git.state === 'repository' ? paths.map((path) => resolve(git.repository, path)) : [];
  return [...new Set([...written, ...seen])]
    .flatMap((path): SensitiveFile[] => {
      if (configDir !== undefined && isPlan(path, configDir)) return [];
      const shown = pathFromProject(path, projectPath);
      if (isSecret(path, projectPath)) return [{ path: shown, why: 'holds secrets by its name' }];
      if (runsLater(path, projectPath)) return [{ path: shown, why: 'runs or instructs later' }];
      return [];
    })
    .slice(0, MAX_FILES);
}

function isPlan(path: string, configDir: string): boolean {
  return path.endsWith('.md') && dirname(path) === join(configDir, 'plans');
}

/** Relative to the project; as it is when it is outside. */
export function pathFromProject(path: string, projectPath: string): string {
  if (!isAbsolute(path)) return path;
  const inside = relative(projectPath, path);
  return inside === '' || inside === '..' || inside.startsWith(`..${sep}`) ? path : inside;
}
