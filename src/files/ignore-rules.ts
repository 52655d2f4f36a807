import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ignore from 'ignore';
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import { GitAt, type GitRunner } from '../git/run/run-git.js';
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
  const at = { ...location, timeLimitMs: TIME_LIMIT_MS };
  const notes: string[] = [];
  try {
    const [commonDir, settings] = await Promise.all([git.commonDir(location), git.settings(location)]);
    if (commonDir !== undefined) {
      const isTop = existsSync(join(folder.fdPath, '.git'));
      return await read(new GitAt(git, { ...at, settings, commonDir }), { isTop, isGit: true, withAlways });
    }
  } catch (thrown) {
    notes.push(`git could not list what it ignores, so only .gitignore files were applied: ${whyOf(thrown)}`);
  }
  try {
    const plainTop = await topOf(roots, folder.path);
    const isTop = plainTop === folder.path;
    const rules = await read(new GitAt(git, { ...at, plainTop }), { isTop, isGit: false, withAlways });
    return { ...rules, notes: [...notes, ...rules.notes] };
  } catch (thrown) {
    const note = `git could not read .gitignore files, so they were not applied: ${whyOf(thrown)}`;
    const isIgnored = (path: string): boolean => withAlways && alwaysIgnoredBy(path) !== undefined;
    return { ...NO_RULES, notes: [note], isIgnored };
  }
}

/** Has git list what is ignored. */
async function read(
  git: GitAt,
  { isTop, isGit, withAlways }: { isTop: boolean; isGit: boolean; withAlways: boolean },
): Promise<IgnoreRules> {
  if (!isTop && (await ignoresFolder(git))) {
    const note = 'git ignores this folder; ignored: true shows its contents';
    return { isGit, notes: [note], ignoresAll: true, isIgnored: () => true };
  }
  const excludes = withAlways ? ALWAYS_IGNORED.flatMap((pattern) => ['--exclude', pattern]) : [];
  const names = await git.fields([...LIST_IGNORED, ...excludes]);
  const hidden = new Set(names.map((name) => name.toString()));
  // A folder with ignored files alone is listed as one entry, with a slash at its end.
  const isIgnored = (path: string, isFolder: boolean): boolean => hidden.has(isFolder ? `${path}/` : path);
  return { isGit, notes: [], ignoresAll: false, isIgnored };
}

/** True when a rule matches the folder or one above it, and git tracks no file in it. */
async function ignoresFolder(git: GitAt): Promise<boolean> {
  const { code } = await git.output(IS_FOLDER_IGNORED, { okCodes: [0, 1] });
  return code === 0 && (await git.fields(LIST_TRACKED)).length === 0;
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
