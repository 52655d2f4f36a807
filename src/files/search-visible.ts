import { lstatSync } from 'node:fs';
import { listedByGit, type GitRun } from './git-listing.js';
import type { RulesOfGit } from './ignored-by-git.js';

/** Which files of a repository git would list, asked of git for these files alone: to list all takes as long as a search. */
export class VisibleInRepository {
  readonly #rules: RulesOfGit;
  readonly #run: GitRun;
  /** For each folder looked at: the files that are shown of a repository in it, or undefined where there is none. */
  readonly #nested = new Map<string, Promise<ReadonlySet<string>> | undefined>();

  constructor(rules: RulesOfGit, run: GitRun) {
    this.#rules = rules;
    this.#run = run;
  }

  /** The ones of `paths` that are tracked, or neither ignored nor in a repository of their own. Throws GIT_FAILED. */
  async among(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const visible = new Set<string>();
    const own: string[] = [];
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
    for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
      const folder = path.slice(0, end);
      if (!this.#nested.has(folder)) this.#nested.set(folder, this.#look(folder));
      const nested = this.#nested.get(folder);
      if (nested !== undefined) return nested;
    }
    return undefined;
  }

  #look(folder: string): Promise<ReadonlySet<string>> | undefined {
    if (!hasGit(`${this.#run.cwd}/${folder}/.git`)) return undefined;
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

/** At once: the folder was searched this very moment. */
function hasGit(place: string): boolean {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Gone, or closed to us: what is in it cannot be read either.
    return false;
  }
}
