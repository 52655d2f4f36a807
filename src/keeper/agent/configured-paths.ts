import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { expandHome } from '../../config/places.js';
import { isWithin } from '../../projects/path-in-project.js';
import { realPathOfNearest } from '../../projects/real-path.js';

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

/** More than commands of a project name. */
const MAX_WORDS = 5_000;
const MAX_FOLDERS = 50;
/** No path is longer. */
const MAX_CHARS = 4_096;
/** No command names a file that lies deeper. */
const MAX_ENDS = 64;
/** What stands between two words of a command, in a shell or a list; the second leaves words together that have blanks in them. */
const BETWEEN_WORDS = [/[\s'"`;&|()<>$={},:!*?]+/, /['"`;&|()<>${}\n]+/];
/** Any variable counts as the folder in which the command runs. */
const VARIABLE = /"?\$\{?\w+\}?"?/g;

export interface NamedPaths {
  /** Whether there is something or not. */
  readonly paths: readonly string[];
  /** False where the texts have more words, or name more folders, than are checked. */
  readonly isAll: boolean;
}

/**
 * The paths below `top` that texts may name, seen from these folders and from each folder that they name, since a command may change to
 * it. A shell may put anything before a `/`, as in `$(git rev-parse --show-toplevel)/tools/check.sh`, so each end of a word counts too,
 * unless it is a folder: the address of a repository ends so.
 */
export function pathsNamed(texts: readonly string[], from: readonly string[], top: string): NamedPaths {
  const words = [...new Set(texts.flatMap(wordsOf))];
  const folders = [...new Set(from)];
  const paths = new Set<string>();
  // It grows while it is read.
  for (const folder of folders) {
    if (folders.length > MAX_FOLDERS) break;
    for (const [path, isWhole] of words.slice(0, MAX_WORDS).flatMap((word) => endsOf(folder, word))) {
      if (path === top || !isWithin(path, top)) continue;
      const isNamed = isFolder(path);
      if (isNamed && !folders.includes(path)) folders.push(path);
      if (isWhole || !isNamed) paths.add(path);
    }
  }
  return { paths: [...paths], isAll: words.length <= MAX_WORDS && folders.length <= MAX_FOLDERS };
}

/** A path may hold any character, so the text itself counts, too. */
function wordsOf(text: string): string[] {
  const plain = text.replace(VARIABLE, ' ./');
  const words = [text, ...BETWEEN_WORDS.flatMap((between) => plain.split(between))];
  return words.filter((word) => word !== '' && word.length <= MAX_CHARS && !word.includes('\0'));
}

/** The word, and what follows each `/` in it, from a folder. */
function endsOf(folder: string, word: string): [path: string, isWhole: boolean][] {
  const ends = [...word.matchAll(/\/(?=[^/])/g)].slice(-MAX_ENDS).map(({ index }) => word.slice(index + 1));
  const whole = resolve(folder, expandHome(word, homedir()));
  return [[whole, true], ...ends.map((end): [string, boolean] => [resolve(folder, end), false])];
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
