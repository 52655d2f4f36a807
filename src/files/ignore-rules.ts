import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ignore from 'ignore';
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import { NulFields, type GitCall, type GitRunner } from '../git/run/run-git.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';

/** Patterns of `.gitignore` for what listings and searches leave out even if no ignore file names it. */
export const ALWAYS_IGNORED: readonly string[] = [
  'node_modules',
  '__pycache__',
  '*.pyc',
  '.DS_Store',
  'Thumbs.db',
];
const always = ignore({ ignoreCase: false }).add(ALWAYS_IGNORED);
/** Ignore files of megabytes take git minutes. */
const TIME_LIMIT_MS = 10_000;
/** Limit for names in memory; a repository of a million files has about 60 MB of them. */
const MAX_BYTES = 200_000_000;
const SHOWN_CHARS = 300;
/** `check-ignore` refuses the literal pathspecs that all other commands use. */
const IS_FOLDER_IGNORED = ['--no-literal-pathspecs', 'check-ignore', '--no-index', '-q', '.'];
const LIST_IGNORED = ['ls-files', '-z', '-o', '-i', '--exclude-standard', '--directory'];
const LIST_TRACKED = ['ls-files', '-z', '-c'];

/** Which entries below a folder are ignored. */
export interface IgnoreRules {
  /** True in a repository, where nested repositories are shown without their contents. */
  readonly isGit: boolean;
  /** Sentences for the caller, such as why git could not say what it ignores. */
  readonly notes: readonly string[];
  /** True when everything is ignored, and a note says so. */
  readonly ignoresAll: boolean;
  /** True for an ignored entry, by its path relative to the folder. */
  isIgnored(path: string, isFolder: boolean): boolean;
}

/** Nothing is ignored. */
export const NO_RULES: IgnoreRules = {
  isGit: false,
  notes: [],
  ignoresAll: false,
  isIgnored: () => false,
};

/** A folder, with another path to it through its descriptor. */
export interface RuledFolder {
  readonly path: string;
  readonly fdPath: string;
}

/** The one of ALWAYS_IGNORED that matches the last name of a path. */
export function alwaysIgnoredBy(path: string): string | undefined {
  return always.test(basename(path)).rule?.pattern;
}

/**
 * What git ignores below a folder: by the rules of its repository, or outside of one by the `.gitignore` files from the allowed root
 * down, as in a repository without files. A file that git tracks is not ignored. ALWAYS_IGNORED counts, too, unless the folder
 * lies in such a one: a caller that names it wants to see it. Where git fails, a note says so.
 */
export async function ignoreRules(
  git: GitRunner,
  roots: AllowedRoots,
  folder: RuledFolder,
  signal: AbortSignal,
): Promise<IgnoreRules> {
  const withAlways = !folder.path.split('/').some((name) => name !== '' && always.ignores(name));
  const location = { cwd: folder.fdPath, signal };
  const reader = new IgnoredReader(git, withAlways);
  const notes: string[] = [];
  try {
    const [commonDir, settings] = await Promise.all([git.commonDir(location), git.settings(location)]);
    if (commonDir !== undefined) {
      const isTop = existsSync(join(folder.fdPath, '.git'));
      return await reader.read({ ...location, settings, commonDir }, isTop, true, notes);
    }
  } catch (thrown) {
    notes.push(`git could not list what it ignores, so only .gitignore files were applied: ${whyOf(thrown)}`);
  }
  try {
    const plainTop = await topOf(roots, folder.path);
    return await reader.read({ ...location, plainTop }, plainTop === folder.path, false, notes);
  } catch (thrown) {
    const note = `git could not read .gitignore files, so they were not applied: ${whyOf(thrown)}`;
    const isIgnored = (path: string): boolean => withAlways && alwaysIgnoredBy(path) !== undefined;
    return { ...NO_RULES, notes: [note], isIgnored };
  }
}

/** Runs git to read what is ignored. */
class IgnoredReader {
  readonly #git: GitRunner;
  readonly #excludes: readonly string[];

  constructor(git: GitRunner, always: boolean) {
    this.#git = git;
    this.#excludes = always ? ALWAYS_IGNORED.flatMap((pattern) => ['--exclude', pattern]) : [];
  }

  async read(
    call: Omit<GitCall, 'args'>,
    isTop: boolean,
    isGit: boolean,
    notes: readonly string[],
  ): Promise<IgnoreRules> {
    if (!isTop && (await this.#ignoresFolder(call)) && (await this.#names(call, LIST_TRACKED)).size === 0) {
      const note = 'git ignores this folder; ignored: true shows its contents';
      return { isGit, notes: [...notes, note], ignoresAll: true, isIgnored: () => true };
    }
    // A folder with ignored files alone is listed as one entry, with a slash at its end.
    const hidden = await this.#names(call, [...LIST_IGNORED, ...this.#excludes]);
    const isIgnored = (path: string, isFolder: boolean): boolean => hidden.has(isFolder ? `${path}/` : path);
    return { isGit, notes, ignoresAll: false, isIgnored };
  }

  /** True when a rule matches the folder or one above it. Tracked files in it are not ignored. */
  async #ignoresFolder(call: Omit<GitCall, 'args'>): Promise<boolean> {
    const asked = { ...call, args: IS_FOLDER_IGNORED, okCodes: [0, 1], timeLimitMs: TIME_LIMIT_MS };
    return (await this.#git.stream(asked, () => undefined)) === 0;
  }

  async #names(call: Omit<GitCall, 'args'>, args: readonly string[]): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    let bytes = 0;
    const fields = new NulFields((name) => {
      bytes += name.length;
      if (bytes > MAX_BYTES) throw tooMany();
      names.add(name.toString('utf8'));
    });
    await this.#git.stream({ ...call, args, timeLimitMs: TIME_LIMIT_MS }, (chunk) => fields.push(chunk));
    fields.end();
    return names;
  }
}

/** The nearest folder at or above `path` with a `.git`, else the allowed root. */
async function topOf(roots: AllowedRoots, path: string): Promise<string> {
  for (let top = path; ; top = dirname(top)) {
    if (existsSync(join(top, '.git')) || top === dirname(top)) return top;
    if ((await roots.admit(dirname(top))) === undefined) return top;
  }
}

function whyOf(thrown: unknown): string {
  if (!(thrown instanceof BridgeError)) throw thrown;
  return oneLine(thrown.message, SHOWN_CHARS);
}

function tooMany(): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `git listed more than ${MAX_BYTES} bytes of names.`,
    'Ask for a smaller folder with path.',
  );
}
