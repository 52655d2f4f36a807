import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface TestedGit {
  readonly version: string;
  /** Folder with the program; undefined for the one on PATH. */
  readonly folder: string | undefined;
}

/** Made by scripts/newest-git.sh. */
const NEWEST = join(import.meta.dirname, '..', '..', '.cache', 'newest-git', 'bin');

/** The system's git, and the newest one that Debian has. Outside of CI the newest one may be missing, which is said. */
export function testedGits(): readonly TestedGit[] {
  const system: TestedGit = { version: versionOf('git'), folder: undefined };
  const program = join(NEWEST, 'git');
  if (existsSync(program)) return [system, { version: versionOf(program), folder: NEWEST }];
  if (process.env['CI'] === 'true')
    throw new Error(`The newest git is missing: scripts/newest-git.sh did not make ${program}.`);
  process.stderr.write(
    'WITHOUT the newest git: its tests are left out; scripts/newest-git.sh .cache/newest-git gets it.\n',
  );
  return [system];
}

function versionOf(program: string): string {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
}
