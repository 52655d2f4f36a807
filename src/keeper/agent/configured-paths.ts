import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { realPathOfNearest } from '../../projects/real-path.js';

const GIT_LIMIT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;

/**
 * The paths in a project that its git is configured to use: every word of every value that lies in the project, with links resolved. Git
 * itself reads its config, included files and all. None where the project is no repository, or git cannot read it.
 */
export async function configuredPaths(projectPath: string): Promise<string[]> {
  const values = (await configOf(projectPath)).flatMap((entry) =>
    entry.slice(entry.indexOf('\n') + 1).split(/\s+/),
  );
  const named = values.flatMap((value) =>
    [projectPath, join(projectPath, '.git')].map((from) => resolve(from, value)),
  );
  const isInside = (path: string): boolean => path.startsWith(`${projectPath}/`);
  const inside = [...new Set(named)].filter(isInside);
  const real = await Promise.all(inside.map((path) => realPathOfNearest(path)));
  return [...new Set([...inside, ...real.filter(isInside)])];
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
