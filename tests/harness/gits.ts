import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { isThere } from './need-table.js';

export interface TestedGit {
  readonly version: string;
  /** Folder with the program; undefined for the one on PATH. */
  readonly folder: string | undefined;
}

/** Made by scripts/newest-git.sh. */
const NEWEST = join(import.meta.dirname, '..', '..', '.cache', 'newest-git', 'bin');

/** The system's git, and the newest one that Debian has. */
export function testedGits(): readonly TestedGit[] {
  const system: TestedGit = { version: versionOf('git'), folder: undefined };
  if (isThere.git()) return [system, { version: versionOf(join(NEWEST, 'git')), folder: NEWEST }];
  return [system];
}

function versionOf(program: string): string {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
}
