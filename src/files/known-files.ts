import { lstatSync } from 'node:fs';
import { triedInFolder } from './in-folder.js';
import type { JudgedFolder } from './judged-folders.js';
import { folderOf, foldersAbove, nameOf } from './relative-path.js';
import { FILES_TOGETHER, textsOfSettledFiles } from './search-file.js';
import { isSettled } from './settled.js';
import type { Verdicts } from './verdicts.js';
import type { WalkPause } from './walk-pause.js';

/** The folders of more are not looked at in one go. */
const MAX_FILES = 2_000;

export interface KnownFilesOptions {
  /** Leads to the first folder itself, by its descriptor. */
  readonly place: string;
  readonly verdicts: Verdicts;
  /** Tracked files that a rule hits. */
  readonly tracked: ReadonlySet<string>;
  readonly pause: WalkPause;
}

export interface FileWithText {
  readonly path: string;
  /** Undefined for what has none. */
  readonly text: string | undefined;
}

/**
 * Files that git judged before and that an engine found now, read on trust. One look at each folder, behind the reading, shows whether
 * the trust was right: in a settled folder no name came, went or was put in another's place since before the search, so what git said
 * of its files holds, and none was reached by a link. It takes half of what a look at each file takes. Linux only.
 */
export class KnownFiles {
  readonly #options: KnownFilesOptions;
  readonly #paths: readonly string[];
  /** The folders on the way, as they were when git judged what is in them. */
  readonly #folders: ReadonlyMap<string, JudgedFolder>;
  /** What came from `texts` was found among so many of the paths. */
  #taken = 0;
  /** There was no way into the folder: not all came that was to come. */
  #isCut = false;

  private constructor(
    options: KnownFilesOptions,
    paths: readonly string[],
    folders: ReadonlyMap<string, JudgedFolder>,
  ) {
    this.#options = options;
    this.#paths = paths;
    this.#folders = folders;
  }

  /** Undefined when git has not judged all of `paths`, or they are too many. */
  static of(paths: readonly string[], options: KnownFilesOptions): KnownFiles | undefined {
    if (paths.length > MAX_FILES) return undefined;
    const judged = options.verdicts.folders;
    const folders = new Map<string, JudgedFolder>();
    for (const folder of ['', ...foldersAbove(paths)]) {
      const known = judged.known(folder);
      if (known === undefined) return undefined;
      folders.set(folder, known);
    }
    const isKnown = paths.every((path) => folders.get(folderOf(path))?.ignored.has(nameOf(path)));
    return isKnown ? new KnownFiles(options, paths, folders) : undefined;
  }

  /** The visible ones in order, some at a time, with their texts as of `textsOfFiles`. They count only if `held` afterwards. */
  async *texts(): AsyncGenerator<readonly FileWithText[]> {
    const { place, pause } = this.#options;
    while (this.#taken < this.#paths.length) {
      if (pause.isDue()) await pause.wait();
      const next = this.#paths.slice(this.#taken, this.#taken + FILES_TOGETHER);
      const visible = next.filter((path) => this.#isVisible(path));
      const texts = textsOfSettledFiles(place, visible, () => pause.isDue());
      if (texts === undefined) {
        this.#isCut = true;
        return;
      }
      const unread = visible[texts.length];
      this.#taken += unread === undefined ? next.length : next.indexOf(unread);
      yield texts.map((text, index) => ({ path: visible[index] ?? '', text }));
    }
  }

  /** True when everything was as it had been judged, and the search is over. At once, behind the last text. */
  held(): boolean {
    const { place, verdicts } = this.#options;
    const taken = foldersAbove(this.#paths.slice(0, this.#taken));
    let isHeld = !this.#isCut;
    const isLooked = triedInFolder(place, () => {
      // Rules in the first folder are looked at elsewhere; what was put in the place of a name there changed its time.
      isHeld &&= isSettled(lstatSync('.'), verdicts.sinceMs);
      for (const folder of taken) isHeld &&= verdicts.folders.isStill(folder, this.#folders.get(folder));
    });
    if (!isLooked || !isHeld) return false;
    verdicts.keep();
    return true;
  }

  #isVisible(path: string): boolean {
    const isIgnored = this.#folders.get(folderOf(path))?.ignored.get(nameOf(path));
    return isIgnored === false || this.#options.tracked.has(path);
  }
}
