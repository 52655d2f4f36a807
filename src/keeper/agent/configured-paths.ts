import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { expandHome } from '../../config/home-path.js';
import { realPathOfNearest } from '../../projects/real-path.js';
import { wordsOf } from './trusted-files.js';

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
  const [top = projectPath] = await gitSays(projectPath, ['rev-parse', '--show-toplevel'], '\n');
  const entries = await gitSays(projectPath, ['config', '--list', '--null', '--show-origin'], '\0');
  const named = entries.flatMap((entry, at) => {
    if (at % 2 === 0) return [];
    // Programs run at the top; what a file includes is relative to that file.
    const origin = resolve(top, (entries[at - 1] ?? '').replace(/^file:/, ''), '..');
    const value = entry.slice(entry.indexOf('\n') + 1);
    return [value, ...wordsOf(value)].flatMap((word) =>
      [top, origin].map((from) => resolve(from, expandHome(word, homedir()))),
    );
  });
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

/** What git answers, split; nothing where it fails. */
export function gitSays(cwd: string, args: readonly string[], between: string): Promise<string[]> {
  return new Promise((done) => {
    execFile('git', args, { cwd, timeout: GIT_LIMIT_MS, maxBuffer: MAX_BYTES }, (error, stdout) =>
      done(error === null ? stdout.split(between) : []),
    );
  });
}
