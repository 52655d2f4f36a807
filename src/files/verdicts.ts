import type { JudgedFolder, JudgedFolders } from './judged-folders.js';

/** What git said before of files below one folder, for one search; and what it says in this one. */
export class Verdicts {
  readonly folders: JudgedFolders;
  /** When the search began: milliseconds, as the times of files are. */
  readonly sinceMs: number;
  readonly #isUnchanged: () => boolean;
  #isGitNeeded = false;
  readonly #fresh: (readonly [folder: JudgedFolder, name: string, isIgnored: boolean])[] = [];

  /** `isUnchanged` tells whether git's rules are as they were when this was made. */
  constructor(folders: JudgedFolders, sinceMs: number, isUnchanged: () => boolean) {
    this.folders = folders;
    this.sinceMs = sinceMs;
    this.#isUnchanged = isUnchanged;
  }

  /** git's word on a name in a folder that was looked at before git was asked; `folder` is left out where nothing is kept of it. */
  add(folder: JudgedFolder | undefined, name: string, isIgnored: boolean): void {
    this.#isGitNeeded = true;
    if (folder !== undefined) this.#fresh.push([folder, name, isIgnored]);
  }

  /** Keeps what was added, unless the rules were changed meanwhile. Call it when the search is over. */
  keep(): void {
    this.folders.wereEnough = !this.#isGitNeeded;
    if (this.#fresh.length === 0 || !this.#isUnchanged()) return;
    for (const [folder, name, isIgnored] of this.#fresh) this.folders.keep(folder, name, isIgnored);
  }
}
