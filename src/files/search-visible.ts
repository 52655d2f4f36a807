import { lstatSync } from 'node:fs';
import { listedByGit, type GitRun } from './git-listing.js';
import type { RulesOfGit } from './ignored-by-git.js';
import { triedInFolder } from './in-folder.js';

/** Which files of a repository git would list, asked of git for these files alone: to list all takes as long as a search. */
export class VisibleInRepository {
  readonly #rules: RulesOfGit;
  readonly #run: GitRun;
  readonly #hasDescriptorPaths: boolean;
  /** For each folder looked at: the files that are shown of a repository in it, or undefined where there is none. */
  readonly #nested = new Map<string, Promise<ReadonlySet<string>> | undefined>();

  constructor(rules: RulesOfGit, run: GitRun, hasDescriptorPaths: boolean) {
    this.#rules = rules;
    this.#run = run;
    this.#hasDescriptorPaths = hasDescriptorPaths;
  }

  /** The ones of `paths` that are tracked, or neither ignored nor in a repository of their own. Throws GIT_FAILED. */
  async among(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const visible = new Set<string>();
    const own: string[] = [];
    this.#lookAbove(paths);
    for (const path of paths) {
      const nested = this.#nestedAbove(path);
      if (nested === undefined) own.push(path);
      else if ((await nested).has(path)) visible.add(path);
    }
    const hidden = await this.#rules.ignored(
      '',
      own.map((name) => ({ name, isFolder: false })),
    );
    for (const path of own) if (!hidden.has(path)) visible.add(path);
    return visible;
  }

  #nestedAbove(path: string): Promise<ReadonlySet<string>> | undefined {
    for (const folder of foldersAbove(path)) {
      const nested = this.#nested.get(folder);
      if (nested !== undefined) return nested;
    }
    return undefined;
  }

  /** Looks at the folders on the way to `paths` that were not looked at yet. */
  #lookAbove(paths: readonly string[]): void {
    const fresh = new Set<string>();
    for (const path of paths) {
      for (const folder of foldersAbove(path)) if (!this.#nested.has(folder)) fresh.add(folder);
    }
    const repositories = new Set(withGit(this.#run.cwd, [...fresh], this.#hasDescriptorPaths));
    for (const folder of fresh)
      this.#nested.set(folder, repositories.has(folder) ? this.#begun(folder) : undefined);
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

function* foldersAbove(path: string): Generator<string> {
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) yield path.slice(0, end);
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
