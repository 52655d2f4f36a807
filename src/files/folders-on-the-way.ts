import type { JudgedFolder, JudgedFolders } from './judged-folders.js';
import { folderOf } from './relative-path.js';

/** The folders on the way to files, as they were when git judged what is in them. */
export class FoldersOnTheWay {
  /** Each behind the one that it is in; without the first folder. */
  readonly folders: JudgedFolder[] = [];
  readonly #judged: JudgedFolders;
  readonly #seen = new Set<JudgedFolder>();

  constructor(judged: JudgedFolders) {
    this.#judged = judged;
    this.#seen.add(judged.first);
  }

  /** The folder at `path`; undefined when it is not known, or one above it is not known as it was then. */
  to(path: string): JudgedFolder | undefined {
    const folder = this.#judged.known(path);
    return folder !== undefined && this.#add(folder) ? folder : undefined;
  }

  #add(folder: JudgedFolder): boolean {
    if (this.#seen.has(folder)) return true;
    const above = this.#judged.known(folderOf(folder.path));
    if (above === undefined || above !== folder.above || !this.#add(above)) return false;
    this.#seen.add(folder);
    this.folders.push(folder);
    return true;
  }
}
