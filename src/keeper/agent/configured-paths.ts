import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { realPathOfNearest } from '../../projects/real-path.js';

const GIT_LIMIT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;
const CAREFUL_SETTINGS = [
  ['core.fsmonitor', 'false'],
  ['safe.bareRepository', 'explicit'],
] as const;

/**
 * The paths in a project that its git is configured to use: every value, and every word of one, that lies in the project, with links resolved. Git
 * itself reads its config, included files and all. None where the project is no repository, or git cannot read it.
 */
export async function configuredPaths(projectPath: string): Promise<string[]> {
  const values = (await configOf(projectPath)).flatMap((entry) => {
    const value = entry.slice(entry.indexOf('\n') + 1);
    return [value, ...value.split(/\s+/)];
  });
  const named = values.flatMap((value) =>
    [projectPath, join(projectPath, '.git')].map((from) => resolve(from, value)),
  );
  const isInside = (path: string): boolean => path.startsWith(`${projectPath}/`);
  const inside = [...new Set(named)].filter(isInside);
  const real = await Promise.all(inside.map((path) => realPathOfNearest(path)));
  return [...new Set([...inside, ...real.filter(isInside)])];
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

/** Each entry is `key LF value`. */
function configOf(projectPath: string): Promise<string[]> {
  return new Promise((done) => {
    const options = { cwd: projectPath, timeout: GIT_LIMIT_MS, maxBuffer: MAX_BYTES };
    execFile('git', ['config', '--list', '--null'], options, (error, stdout) =>
      done(error === null ? stdout.split('\0') : []),
    );
  });
}
