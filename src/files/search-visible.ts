import { listedByGit, type GitRun } from './git-listing.js';
import type { RulesOfGit } from './ignored-by-git.js';
import { triedInFolder } from './in-folder.js';
import type { FolderLook, JudgedFolder } from './judged-folders.js';
import { folderOf, foldersAbove, nameOf } from './relative-path.js';
import { statsAt } from './stats-at.js';
import type { Verdicts } from './verdicts.js';

/** Paths that git is asked about at a time: a few at first, since a page may need no more. */
const FIRST_PART = 64;
const MAX_PART = 1_024;
/** git judges so many while those before them are searched. */
const PATHS_AHEAD = 1_024;
/** Its answers to so many, each of seven bytes at least, are more than git keeps to itself. */
const MAX_OPEN = 16_384;

interface LookedAt {
  /** The files that are shown of the repository in this folder or in one above it; undefined where there is none. */
  readonly nested: Promise<ReadonlySet<string>> | undefined;
  /** Undefined where nothing is kept. */
  readonly judged: JudgedFolder | undefined;
}

const UNSEEN: FolderLook = { isRepository: false, judged: undefined };

/** Which files of a repository git would list, asked of git for these files alone: to list all takes as long as a search. */
export class VisibleInRepository {
  readonly #rules: RulesOfGit;
  readonly #run: GitRun;
  readonly #hasDescriptorPaths: boolean;
  readonly #kept: Verdicts | undefined;
  readonly #folders = new Map<string, LookedAt>();
  /** Of paths that were asked about, or need not be: whether a rule hides them; undefined as long as git has not said it. */
  readonly #asked = new Map<string, boolean | undefined>();
  /** Questions that git has not answered yet. */
  #open = 0;
  #isGitAsked = false;

  /** `kept`: what git said before. */
  constructor(rules: RulesOfGit, run: GitRun, hasDescriptorPaths: boolean, kept?: Verdicts) {
    this.#rules = rules;
    this.#run = run;
    this.#hasDescriptorPaths = hasDescriptorPaths;
    this.#kept = kept;
    this.#folders.set('', { nested: undefined, judged: kept?.folders.first });
  }

  /**
   * The ones of `paths` that are tracked, or neither ignored nor in a repository of their own: in order, as it becomes known.
   * Throws GIT_FAILED.
   */
  async *among(paths: readonly string[]): AsyncGenerator<readonly string[]> {
    let asked = 0;
    try {
      for (let at = 0; at < paths.length;) {
        if (asked < paths.length && asked - at < PATHS_AHEAD) asked = await this.#ask(paths, asked);
        const shown: string[] = [];
        const from = at;
        for (; at < asked; at++) {
          const path = paths[at] ?? '';
          const isIgnored = this.#judgedNext(path);
          if (isIgnored === undefined) break;
          const nested = this.#folders.get(folderOf(path))?.nested;
          if (!isIgnored || (await (nested ?? this.#rules.trackedYetIgnored())).has(path)) shown.push(path);
        }
        if (at > from) yield shown;
        // git may keep its answers until it has no more room for them, or is asked no more.
        else if (asked < paths.length && this.#open < MAX_OPEN) asked = await this.#ask(paths, asked);
        else await this.#rules.inOrder().known();
      }
    } finally {
      this.#kept?.keep();
    }
  }

  /** Whether a rule hides `path`, which is the next one that was asked about; undefined as long as that is not known. */
  #judgedNext(path: string): boolean | undefined {
    const known = this.#asked.get(path);
    const isIgnored = known ?? this.#rules.inOrder().next();
    if (isIgnored === undefined) return undefined;
    this.#asked.delete(path);
    if (known !== undefined) return known;
    this.#open--;
    this.#kept?.add(this.#folders.get(folderOf(path))?.judged, nameOf(path), isIgnored);
    return isIgnored;
  }

  /** Asks about the next ones of `paths` whatever is not known. The number of those that were asked about. */
  async #ask(paths: readonly string[], asked: number): Promise<number> {
    const part = paths.slice(asked, asked + Math.min(MAX_PART, Math.max(FIRST_PART, asked)));
    this.#lookAbove(part);
    for (const path of part) this.#asked.set(path, this.#known(path));
    const unknown = part.filter((path) => this.#asked.get(path) === undefined);
    if (unknown.length > 0) {
      this.#isGitAsked = true;
      this.#open += unknown.length;
      await this.#rules.inOrder().ask('', unknown);
    }
    if (this.#isGitAsked && asked + part.length === paths.length) this.#rules.inOrder().end();
    return asked + part.length;
  }

  #known(path: string): boolean | undefined {
    const above = this.#folders.get(folderOf(path));
    return above?.nested === undefined ? above?.judged?.ignored.get(nameOf(path)) : true;
  }

  /** Looks at the folders on the way to `paths` that were not looked at yet. */
  #lookAbove(paths: readonly string[]): void {
    const fresh = foldersAbove(paths, (folder) => this.#folders.has(folder));
    if (fresh.size === 0) return;
    const looks = this.#looks(fresh);
    for (const folder of fresh) {
      const above = this.#folders.get(folderOf(folder))?.nested;
      const { isRepository, judged } = looks.get(folder) ?? UNSEEN;
      this.#folders.set(folder, {
        nested: above ?? (isRepository ? this.#begun(folder) : undefined),
        judged,
      });
    }
  }

  /** At once: the folders were searched this very moment. */
  #looks(fresh: ReadonlySet<string>): ReadonlyMap<string, FolderLook> {
    const looks = new Map<string, FolderLook>();
    const lookAt = (folder: string, place: string): void => {
      const above = looks.get(folderOf(folder)) ?? this.#folders.get(folderOf(folder));
      const look = this.#kept?.folders.look(folder, place, above?.judged);
      looks.set(folder, look ?? { isRepository: statsAt(`${place}/.git`) !== undefined, judged: undefined });
    };
    const { cwd } = this.#run;
    const isDone =
      this.#hasDescriptorPaths &&
      triedInFolder(cwd, () => {
        for (const folder of fresh) lookAt(folder, folder);
      });
    if (!isDone) for (const folder of fresh) lookAt(folder, `${cwd}/${folder}`);
    return looks;
  }

  #begun(folder: string): Promise<ReadonlySet<string>> {
    const listing = this.#listed(folder);
    // Whoever awaits it hears of it.
    listing.catch(() => undefined);
    return listing;
  }

  /** What looks like a repository may be none: git says what it shows of it. */
  async #listed(folder: string): Promise<ReadonlySet<string>> {
    const paths = new Set<string>();
    await listedByGit(this.#run, ['-c', '-o', '--exclude-standard', '--', `${folder}/`], (path) =>
      paths.add(path),
    );
    return paths;
  }
}
