import { lstatSync } from 'node:fs';
import { listedByGit, type GitRun } from './git-listing.js';
import type { RulesOfGit } from './ignored-by-git.js';
import type { IgnoredInOrder } from './ignored-in-order.js';
import { triedInFolder } from './in-folder.js';

/** Paths that git is asked about at a time: a few at first, since a page may need no more. */
const FIRST_PART = 64;
const MAX_PART = 1_024;
/** git judges so many while those before them are searched. */
const PATHS_AHEAD = 1_024;
/** Its answers to so many, each of seven bytes at least, are more than git keeps to itself. */
const MAX_PATHS_AHEAD = 16_384;

/** Which files of a repository git would list, asked of git for these files alone: to list all takes as long as a search. */
export class VisibleInRepository {
  readonly #rules: RulesOfGit;
  readonly #run: GitRun;
  readonly #hasDescriptorPaths: boolean;
  /** For each folder looked at: the files that are shown of the repository in it or above it, or undefined where there is none. */
  readonly #nested = new Map<string, Promise<ReadonlySet<string>> | undefined>([['', undefined]]);

  constructor(rules: RulesOfGit, run: GitRun, hasDescriptorPaths: boolean) {
    this.#rules = rules;
    this.#run = run;
    this.#hasDescriptorPaths = hasDescriptorPaths;
  }

  /**
   * The ones of `paths` that are tracked, or neither ignored nor in a repository of their own: in order, as it becomes known.
   * Throws GIT_FAILED.
   */
  async *among(paths: readonly string[]): AsyncGenerator<readonly string[]> {
    const ignored = this.#rules.inOrder();
    let asked = 0;
    for (let at = 0; at < paths.length;) {
      if (asked < paths.length && asked - at < PATHS_AHEAD) asked = await this.#ask(paths, asked, ignored);
      const shown: string[] = [];
      const from = at;
      for (; at < asked; at++) {
        const path = paths[at] ?? '';
        const nested = this.#nested.get(folderOf(path));
        const isIgnored = nested === undefined ? ignored.next() : true;
        if (isIgnored === undefined) break;
        if (!isIgnored || (await (nested ?? this.#rules.trackedYetIgnored())).has(path)) shown.push(path);
      }
      if (at > from) yield shown;
      // git may keep its answers until it has no more room for them, or is asked no more.
      else if (asked < paths.length && asked - at < MAX_PATHS_AHEAD)
        asked = await this.#ask(paths, asked, ignored);
      else await ignored.known();
    }
  }

  /** Asks about the next ones of `paths`. The number of those that were asked about. */
  async #ask(paths: readonly string[], asked: number, ignored: IgnoredInOrder): Promise<number> {
    const part = paths.slice(asked, asked + Math.min(MAX_PART, Math.max(FIRST_PART, asked)));
    this.#lookAbove(part);
    await ignored.ask(
      '',
      part.filter((path) => this.#nested.get(folderOf(path)) === undefined),
    );
    if (asked + part.length === paths.length) ignored.end();
    return asked + part.length;
  }

  /** Looks at the folders on the way to `paths` that were not looked at yet. */
  #lookAbove(paths: readonly string[]): void {
    // Each behind the one that it is in.
    const fresh = new Set<string>();
    const add = (folder: string): void => {
      if (this.#nested.has(folder) || fresh.has(folder)) return;
      add(folderOf(folder));
      fresh.add(folder);
    };
    for (const path of paths) add(folderOf(path));
    const repositories = new Set(withGit(this.#run.cwd, [...fresh], this.#hasDescriptorPaths));
    for (const folder of fresh) {
      const above = this.#nested.get(folderOf(folder));
      this.#nested.set(folder, above ?? (repositories.has(folder) ? this.#begun(folder) : undefined));
    }
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

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Those among `folders` of the one at `place` that look like repositories. At once: they were searched this very moment. */
function withGit(place: string, folders: readonly string[], hasDescriptorPaths: boolean): string[] {
  if (folders.length === 0) return [];
  let found: string[] = [];
  const isFound = hasDescriptorPaths && triedInFolder(place, () => (found = folders.filter(hasGit)));
  return isFound ? found : folders.filter((folder) => hasGit(`${place}/${folder}`));
}

function hasGit(folder: string): boolean {
  try {
    return lstatSync(`${folder}/.git`, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Gone, or closed to us: what is in it cannot be read either.
    return false;
  }
}
