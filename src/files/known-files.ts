import { lstatSync } from 'node:fs';
import { FoldersOnTheWay } from './folders-on-the-way.js';
import { triedInFolder } from './in-folder.js';
import { isStillAsJudged, type JudgedFolder } from './judged-folders.js';
import { folderOf, nameOf } from './relative-path.js';
import { FILES_TOGETHER, textsOfSettledFiles } from './search-file.js';
import { isSettled } from './settled.js';
import type { Verdicts } from './verdicts.js';
import type { WalkPause } from './walk-pause.js';

/** The folders of more are not looked at in one go. */
const MAX_FILES = 2_000;
/** A page that took so many files takes as many again: each part costs a way into the folder and back. */
const MAX_TOGETHER = 512;

export interface KnownFilesOptions {
  /** Leads to the first folder itself, by its descriptor. */
  readonly place: string;
  readonly verdicts: Verdicts;
  /** Tracked files that a rule hits. */
  readonly tracked: ReadonlySet<string>;
  readonly pause: Pick<WalkPause, 'isDue' | 'wait'>;
}

export interface FileWithText {
  readonly path: string;
  /** Undefined for what has none. */
  readonly text: string | undefined;
}

interface VisibleFile {
  readonly path: string;
  /** Of the folders, the first so many are on the way to this file or to one before it. */
  readonly folders: number;
}

/**
 * Files that git judged before and that an engine found now, read on trust. One look at each folder, behind the reading, shows whether
 * the trust was right: in a settled folder no name came, went or was put in another's place since before the search, so what git said
 * of its files holds, and none was reached by a link. It takes half of what a look at each file takes. Linux only.
 */
export class KnownFiles {
  readonly #options: KnownFilesOptions;
  readonly #visible: readonly VisibleFile[];
  /** The folders on the way, as they were when git judged what is in them. */
  readonly #folders: readonly JudgedFolder[];
  /** Files whose texts came. */
  #taken = 0;
  /** There was no way into the folder: not all came that was to come. */
  #isCut = false;

  private constructor(
    options: KnownFilesOptions,
    visible: readonly VisibleFile[],
    folders: readonly JudgedFolder[],
  ) {
    this.#options = options;
    this.#visible = visible;
    this.#folders = folders;
  }

  /** Undefined when git has not judged all of `paths`, or they are too many. */
  static of(paths: readonly string[], options: KnownFilesOptions): KnownFiles | undefined {
    if (paths.length > MAX_FILES) return undefined;
    const way = new FoldersOnTheWay(options.verdicts.folders);
    const visible: VisibleFile[] = [];
    for (const path of paths) {
      const isIgnored = way.to(folderOf(path))?.ignored.get(nameOf(path));
      if (isIgnored === undefined) return undefined;
      if (!isIgnored || options.tracked.has(path)) visible.push({ path, folders: way.folders.length });
    }
    return new KnownFiles(options, visible, way.folders);
  }

  /** The visible ones in order, some at a time, with their texts as of `textsOfFiles`. They count only if `held` afterwards. */
  async *texts(): AsyncGenerator<readonly FileWithText[]> {
    const { place, pause } = this.#options;
    while (this.#taken < this.#visible.length) {
      if (pause.isDue()) await pause.wait();
      const count = Math.min(MAX_TOGETHER, Math.max(FILES_TOGETHER, this.#taken));
      const paths = this.#visible.slice(this.#taken, this.#taken + count).map(({ path }) => path);
      const texts = textsOfSettledFiles(place, paths, () => pause.isDue());
      if (texts === undefined) {
        this.#isCut = true;
        return;
      }
      this.#taken += texts.length;
      yield texts.map((text, index) => ({ path: paths[index] ?? '', text }));
    }
  }

  /** True when everything was as it had been judged, and the search is over. At once, behind the last text. */
  held(): boolean {
    const { place, verdicts } = this.#options;
    if (this.#isCut) return false;
    const isAll = this.#taken === this.#visible.length;
    const count = isAll ? this.#folders.length : (this.#visible[this.#taken - 1]?.folders ?? 0);
    let isHeld = false;
    triedInFolder(place, () => {
      // Rules in the first folder are looked at elsewhere; what was put in the place of a name there changed its time.
      isHeld = isSettled(lstatSync('.'), verdicts.sinceMs);
      isHeld &&= this.#folders.slice(0, count).every((folder) => isStillAsJudged(folder));
    });
    if (!isHeld) return false;
    verdicts.keep();
    return true;
  }
}
