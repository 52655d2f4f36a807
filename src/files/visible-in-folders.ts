import type { WalkEntry } from './walk-entry.js';
import type { FolderWalk, WalkedFolder } from './walk-folder.js';

interface Level {
  readonly name: string;
  readonly folder: WalkedFolder;
  readonly shown: ReadonlyMap<string, WalkEntry>;
}

/** Which files nothing hides where no repository tells: only the folders on the way to them are read. */
export class VisibleInFolders {
  readonly #walk: FolderWalk;
  /** The first folder, and from there the way to the file that was judged last: a descriptor each is open. */
  #levels: Level[] = [];

  constructor(walk: FolderWalk) {
    this.#walk = walk;
  }

  /** The visible ones of `paths`, which come in order, so that each folder is read once. */
  async *among(paths: readonly string[]): AsyncGenerator<readonly string[]> {
    if (this.#levels.length === 0) this.#levels.push(levelOf('', await this.#walk.first()));
    for (const path of paths) {
      if (await this.#isVisible(path.split('/'))) yield [path];
      if (this.#walk.pause.isDue()) await this.#walk.pause.wait();
    }
  }

  async #isVisible(segments: readonly string[]): Promise<boolean> {
    const name = segments.at(-1) ?? '';
    const parent = await this.#levelAt(segments.slice(0, -1));
    const type = parent?.shown.get(name)?.type;
    return type === 'file' || type === 'symlink';
  }

  /** Undefined for a folder that is hidden, or lies in one. */
  async #levelAt(folders: readonly string[]): Promise<Level | undefined> {
    let same = 0;
    while (same < folders.length && this.#levels[same + 1]?.name === folders[same]) same++;
    for (const { folder } of this.#levels.splice(same + 1)) this.#walk.close(folder);
    for (const name of folders.slice(same)) {
      const above = this.#levels.at(-1);
      if (above?.shown.get(name)?.isFolder !== true) return undefined;
      this.#levels.push(levelOf(name, await this.#walk.below(above.folder, name)));
    }
    return this.#levels.at(-1);
  }
}

function levelOf(name: string, folder: WalkedFolder): Level {
  return { name, folder, shown: new Map(folder.entries.unordered.map((entry) => [entry.name, entry])) };
}
