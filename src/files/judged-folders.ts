import type { Stats } from 'node:fs';
import { isSettled } from './settled.js';
import { statsAt } from './stats-at.js';

/** Folders and names together: some 3 MB. */
const MAX_KEPT = 20_000;

/** A folder as it was when git judged names in it. */
export interface JudgedFolder {
  /** `''` or `a/b`. */
  readonly path: string;
  /** The one that it is in; undefined for the first. */
  readonly above: JudgedFolder | undefined;
  readonly stats: Stats | undefined;
  /** Of its ignore file. */
  readonly rules: Stats | undefined;
  /** Names that were judged, and whether a rule hides them. */
  readonly ignored: Map<string, boolean>;
}

export interface FolderLook {
  /** It looks like a repository of its own. */
  readonly isRepository: boolean;
  /** Undefined where nothing can be kept of it. */
  readonly judged: JudgedFolder | undefined;
}

/**
 * What git said of names below one folder. A folder's time changes with each name that is added, removed or put in another's place: so
 * what was said in a settled folder holds while its time, that of its ignore file, and those of all folders above it are the same.
 */
export class JudgedFolders {
  /** What is looked at of it is looked at elsewhere: rules above it count, too. */
  readonly first: JudgedFolder = {
    path: '',
    above: undefined,
    stats: undefined,
    rules: undefined,
    ignored: new Map(),
  };
  /** Whether the last search needed nothing else; the next one will most likely be as it. */
  wereEnough = false;
  readonly #dev: number;
  readonly #now: () => number;
  readonly #folders = new Map<string, JudgedFolder>();
  #count = 0;

  /** `dev`: the file system of the first folder; of others nothing is kept. `now`: milliseconds, as the times of files are. */
  constructor(dev: number, now: () => number) {
    this.#dev = dev;
    this.#now = now;
  }

  /** A folder as it was when it was last looked at; undefined for one of which nothing is kept. */
  known(relative: string): JudgedFolder | undefined {
    return relative === '' ? this.first : this.#folders.get(relative);
  }

  /** The folder `relative` in the one that was looked at as `above`; `place` leads to it. At once. */
  look(relative: string, place: string, above: JudgedFolder | undefined): FolderLook {
    const stats = statsAt(place);
    const kept = this.#folders.get(relative);
    if (kept !== undefined && kept.above === above && isAsKept(kept, stats, place))
      return { isRepository: false, judged: kept };
    this.#folders.delete(relative);
    // After the folder itself: what is put there behind this look changes its time.
    const isRepository = statsAt(`${place}/.git`) !== undefined;
    const rules = statsAt(`${place}/.gitignore`);
    if (isRepository || above === undefined || stats?.dev !== this.#dev)
      return { isRepository, judged: undefined };
    const nowMs = this.#now();
    const isKept =
      stats.isDirectory() && isSettled(stats, nowMs) && (rules === undefined || isSettled(rules, nowMs));
    if (!isKept) return { isRepository, judged: undefined };
    const judged: JudgedFolder = { path: relative, above, stats, rules, ignored: new Map() };
    this.#makeRoom();
    this.#folders.set(relative, judged);
    return { isRepository, judged };
  }

  /** Keeps what git said, of a name in a folder that was looked at before git was asked. */
  keep(folder: JudgedFolder, name: string, isIgnored: boolean): void {
    this.#makeRoom();
    folder.ignored.set(name, isIgnored);
  }

  /** All is forgotten rather than looked through for what is needed least. */
  #makeRoom(): void {
    if (this.#count >= MAX_KEPT) {
      this.#folders.clear();
      this.first.ignored.clear();
      this.#count = 0;
    }
    this.#count++;
  }
}

/** True when the folder, which lies at its path from the working directory, is as it was when it was judged. */
export function isStillAsJudged(folder: JudgedFolder): boolean {
  return isAsKept(folder, statsAt(folder.path), folder.path);
}

function isAsKept(kept: JudgedFolder, stats: Stats | undefined, place: string): boolean {
  if (!isSame(kept.stats, stats)) return false;
  return kept.rules === undefined || isSame(kept.rules, statsAt(`${place}/.gitignore`));
}

function isSame(before: Stats | undefined, now: Stats | undefined): boolean {
  return (
    before !== undefined &&
    now !== undefined &&
    before.ctimeMs === now.ctimeMs &&
    before.mtimeMs === now.mtimeMs &&
    before.ino === now.ino &&
    before.dev === now.dev
  );
}
