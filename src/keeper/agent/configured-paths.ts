import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { realPathOfNearest } from '../../projects/real-path.js';
import { pathsNamed } from './named-paths.js';

const GIT_LIMIT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;
const CAREFUL_SETTINGS = [
  ['core.fsmonitor', 'false'],
  ['safe.bareRepository', 'explicit'],
] as const;

/**
 * The paths in a project that its git is configured to use: whatever its values name, with links resolved; all of it where that is too much. Git
 * itself reads its config, included files and all. None where the project is no repository, or git cannot read it.
 */
export async function configuredPaths(projectPath: string): Promise<string[]> {
  const [top = projectPath] = await gitSays(projectPath, ['rev-parse', '--show-toplevel'], '\n');
  const entries = await gitSays(projectPath, ['config', '--list', '--null', '--show-origin'], '\0');
  const values = entries.filter((_, at) => at % 2 === 1).map((entry) => entry.slice(entry.indexOf('\n') + 1));
  // Programs run at the top; what a file includes is relative to that file.
  const origins = entries.filter((_, at) => at % 2 === 0 && at < entries.length - 1);
  const folders = origins.map((origin) => resolve(top, origin.replace(/^file:/, ''), '..'));
  const { paths, isAll } = pathsNamed(values, [top, ...folders], projectPath);
  if (!isAll) return [projectPath];
  const real = await Promise.all(paths.map((path) => realPathOfNearest(path)));
  return [...new Set([...paths, ...real.filter((path) => path.startsWith(`${projectPath}/`))])];
}

/**
 * The environment for a session whose own git, which runs outside of any sandbox, must run nothing that the task could have written: no
 * program that watches files, and no bare repository in a folder of the project (git-config(1), GIT_CONFIG_COUNT).
 */
export function carefulGit(env: Readonly<Record<string, string>>): Record<string, string> {
  const before = /^\d+$/.test(env['GIT_CONFIG_COUNT'] ?? '0') ? Number(env['GIT_CONFIG_COUNT'] ?? 0) : 0;
  const own: Record<string, string> = { GIT_CONFIG_COUNT: `${before + CAREFUL_SETTINGS.length}` };
  for (const [index, [key, value]] of CAREFUL_SETTINGS.entries()) {
    own[`GIT_CONFIG_KEY_${before + index}`] = key;
    own[`GIT_CONFIG_VALUE_${before + index}`] = value;
  }
  return own;
}

/** What git answers, split; nothing where it fails. A relative folder on PATH would be one of the project, if git started there. */
export function gitSays(folder: string, args: readonly string[], between: string): Promise<string[]> {
  const options = { cwd: '/', timeout: GIT_LIMIT_MS, maxBuffer: MAX_BYTES };
  return new Promise((done) => {
    execFile('git', ['-C', folder, ...args], options, (error, stdout) =>
      done(error === null ? stdout.split(between) : []),
    );
  });
}
