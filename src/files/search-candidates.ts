import { BridgeError } from '../base/errors.js';
import { listedByGit, type GitRun } from './git-listing.js';
import { RulesOfGit } from './ignored-by-git.js';
import type { IgnoreRules } from './ignored-names.js';
import type { Verdicts } from './verdicts.js';
import { KnownFiles } from './known-files.js';
import { filesByEngine, type SearchEngine } from './search-engine.js';
import { VisibleInRepository } from './search-visible.js';
import { VisibleInFolders } from './visible-in-folders.js';
import type { FolderWalk, WalkedFolder } from './walk-folder.js';

export interface CandidateOptions {
  readonly walk: FolderWalk;
  readonly run: GitRun;
  readonly hasDescriptorPaths: boolean;
  readonly engines: readonly SearchEngine[];
  /** Whether this looks like part of a repository: the engine starts on that guess, while git is still asked. */
  readonly looksLikeRepository: boolean;
  readonly query: string;
  readonly isRegex: boolean;
  /** What git said at earlier searches, when that is kept. */
  readonly verdicts: () => Promise<Verdicts | undefined>;
}

/** Files that may be searched, as paths relative to the folder, and which of them may be shown. */
export interface Candidates {
  readonly paths: Iterable<string>;
  /** The ones among `paths` that nothing hides, part by part and in order, since a page needs few of them. Called once. */
  readonly visible: (
    paths: readonly string[],
  ) => AsyncIterable<readonly string[]> | Iterable<readonly string[]>;
  /** `paths` as files that were judged before; undefined where not all of them were. */
  readonly known?: (paths: readonly string[]) => KnownFiles | undefined;
}

/** Files that may hold a match by the first engine that can tell; every file that may be shown where none can. */
export async function candidates(options: CandidateOptions): Promise<Candidates> {
  const { walk, run, looksLikeRepository } = options;
  const guess = firstAnswer(options, looksLikeRepository);
  const [{ rules, verdicts }, guessed] = await Promise.all([begun(options), guess]);
  const found = rules.isGit === looksLikeRepository ? guessed : await firstAnswer(options, rules.isGit);
  if (found === 'stuck') return shownAlready(await walked(walk, await walk.first()));
  if (found === undefined) return everyFile(walk, run);
  if (!(rules instanceof RulesOfGit)) {
    const visible = new VisibleInFolders(walk);
    return { paths: found, visible: (paths) => visible.among(paths) };
  }
  const visible = new VisibleInRepository(rules, run, options.hasDescriptorPaths, verdicts);
  const tracked = await rules.trackedYetIgnored();
  return {
    paths: new Set([...found, ...tracked]),
    visible: (paths) => visible.among(paths),
    known: (paths) =>
      verdicts !== undefined && options.hasDescriptorPaths
        ? KnownFiles.of(paths, { place: run.cwd, verdicts, tracked, pause: walk.pause })
        : undefined,
  };
}

/** Every file that is not ignored: of a repository as git lists them, unless it waits for a pipe. */
export async function everyFile(walk: FolderWalk, run: GitRun): Promise<Candidates> {
  const rules = await walk.rules();
  if (rules.isGit) {
    const paths = await listed(run);
    if (paths !== undefined) return shownAlready(paths);
  }
  return shownAlready(await walked(walk, await walk.first()));
}

/** The rules of the folder; what git needs to answer starts while the engine is at work. */
async function begun(
  options: CandidateOptions,
): Promise<{ readonly rules: IgnoreRules; readonly verdicts?: Verdicts | undefined }> {
  const rules = await options.walk.rules();
  if (!(rules instanceof RulesOfGit)) return { rules };
  void rules.trackedYetIgnored();
  const verdicts = await options.verdicts();
  if (verdicts?.folders.wereEnough !== true) rules.inOrder();
  return { rules, verdicts };
}

async function firstAnswer(
  { engines, query, isRegex, run }: CandidateOptions,
  isRepository: boolean,
): Promise<ReadonlySet<string> | 'stuck' | undefined> {
  for (const engine of engines) {
    const found = await filesByEngine(engine, { query, isRegex, isRepository, run });
    if (found !== undefined) return found;
  }
  return undefined;
}

function shownAlready(paths: readonly string[]): Candidates {
  return { paths, visible: (asked) => [asked] };
}

/** Undefined when git took too long. */
async function listed(run: GitRun): Promise<readonly string[] | undefined> {
  const paths = new Set<string>();
  try {
    await listedByGit(run, ['-c', '-o', '--exclude-standard'], (path) => {
      if (!path.endsWith('/')) paths.add(path);
    });
    return [...paths];
  } catch (thrown) {
    if (thrown instanceof BridgeError && !run.signal.aborted) return undefined;
    throw thrown;
  }
}

/** Every file that is not ignored, folder by folder: no ignore file that would never end is read. */
async function walked(walk: FolderWalk, folder: WalkedFolder): Promise<string[]> {
  const paths: string[] = [];
  for (const { name, type, isFolder } of folder.entries.unordered) {
    if (isFolder) {
      const below = await walk.below(folder, name);
      for (const path of await walked(walk, below)) paths.push(path);
      walk.close(below);
    } else if (type !== 'other') {
      paths.push(folder.relative === '' ? name : `${folder.relative}/${name}`);
    }
  }
  if (walk.pause.isDue()) await walk.pause.wait();
  return paths;
}
