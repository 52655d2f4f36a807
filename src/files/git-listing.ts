import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { runInTurn } from './search-program.js';

/** How git is run in one folder, whatever its repository's settings say or become. */
export interface FolderGit {
  readonly env: Readonly<Record<string, string>>;
  /** For `git config --list` alone: all settings count. */
  readonly askingEnv: Readonly<Record<string, string>>;
  /** Once no git of it runs any more. */
  dispose(): Promise<void>;
}

/** `cwd` is undefined where there is no repository. Throws GIT_FAILED. */
export type OpenGit = (cwd: string | undefined, signal: AbortSignal) => Promise<FolderGit>;

export interface GitRun {
  /** The folder in which git runs; paths in its answers are relative to it. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Instead of the usual limit. */
  readonly timeLimitMs?: number;
}

/** Names that are held at once: a repository of a million files has some 60 MB of them. */
const MAX_BYTES = 200_000_000;

/** No pager, and names are names, whatever characters are in them. */
export const gitFlags: readonly string[] = ['--no-pager', '--literal-pathspecs'];

/** True when git takes `cwd` for part of a work tree. */
export async function gitSaysWorkTree(run: GitRun): Promise<boolean> {
  const chunks: Buffer[] = [];
  const args = [...gitFlags, 'rev-parse', '--is-inside-work-tree'];
  const program = await runInTurn({ program: 'git', args, ...run }, (chunk) => chunks.push(chunk));
  program.end();
  const code = await program.ended;
  return code === 0 && Buffer.concat(chunks).toString('utf8').trim() === 'true';
}

/** True when there is a `.git` at `path` or above: without one git need not be asked. */
export function hasGitAbove(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if (kindOf(join(folder, '.git')) !== 'missing') return true;
    if (folder === dirname(folder)) return false;
  }
}

/**
 * False when an ignore file that git would read from `path` up to the top of its repository is neither a regular file nor a link
 * nor a folder: git would wait for a pipe for ever.
 */
export function gitCanReadRules(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if (kindOf(join(folder, '.gitignore')) === 'special') return false;
    if (kindOf(join(folder, '.git')) !== 'missing')
      return kindOf(join(folder, '.git', 'info', 'exclude')) !== 'special';
    if (folder === dirname(folder)) return true;
  }
}

/** The NUL-separated names of `git ls-files`. Throws GIT_FAILED. */
export async function listedByGit(
  run: GitRun,
  args: readonly string[],
  take: (name: string) => void,
): Promise<void> {
  let rest = '';
  let bytes = 0;
  const decoder = new TextDecoder();
  const program = await runInTurn(
    { program: 'git', args: [...gitFlags, 'ls-files', '-z', ...args], ...run },
    (chunk) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw tooMany();
      const names = (rest + decoder.decode(chunk, { stream: true })).split('\0');
      rest = names.pop() ?? '';
      for (const name of names) take(name);
    },
  );
  program.end();
  const code = await program.ended;
  if (code !== 0) throw gitFault('ls-files', code, program.stderr());
}

export function gitFault(command: string, code: number | string, words: string): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `git ${command} failed (${code}): ${words === '' ? 'it said nothing' : words}`,
    'The words are git’s own; look at the repository in a terminal.',
  );
}

function tooMany(): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `git listed more than ${MAX_BYTES} bytes of names.`,
    'Ask for a smaller folder with path.',
  );
}

/** At once: the path was opened this very moment, so each of its folders is in memory. */
function kindOf(path: string): 'missing' | 'special' | 'plain' {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return 'missing';
    return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink() ? 'plain' : 'special';
  } catch (thrown) {
    // What cannot be looked at, git cannot open either.
    if (systemCodeOf(thrown) !== undefined) return 'missing';
    throw thrown;
  }
}
