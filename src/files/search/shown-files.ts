import { BridgeError } from '../../base/errors.js';
import { someNames } from '../../base/text.js';
import { isSecretName } from '../../projects/secret-names.js';
import type { FolderWalk, WalkedFolder } from '../list/walk-folder.js';

/** The most bytes of ripgrep's arguments that name what it need not read: systems allow a megabyte and more. */
const MAX_ARGUMENT_BYTES = 200_000;

/** The files and links that a walk shows, as relative paths, and what it does not. */
export class ShownFiles {
  readonly paths = new Set<string>();
  readonly #secrets: string[] = [];
  readonly #folders: { readonly path: string; readonly why: string }[] = [];
  readonly #walk: FolderWalk;
  readonly #deadlineMs: number;

  constructor(walk: FolderWalk, deadlineMs: number) {
    this.#walk = walk;
    this.#deadlineMs = deadlineMs;
  }

  /** Throws SEARCH_FAILED when listing takes too long. */
  async read(): Promise<void> {
    await this.#add(await this.#walk.first());
  }

  /** Takes files of secrets out of `paths`. */
  leaveOutSecrets(): void {
    for (const path of this.paths) if (isSecretName(path)) this.#secrets.push(path);
    for (const path of this.#secrets) this.paths.delete(path);
  }

  /** Arguments that spare ripgrep what is not shown: as much as fits, folders first. What it finds elsewhere is compared with `paths`. */
  excludes(): string[] {
    const folders = [...this.#walk.leftOut.folders, ...this.#folders.map(({ path }) => path)];
    const globs: string[] = [];
    let bytes = 0;
    for (const path of [...folders, ...this.#secrets, ...this.#walk.leftOut.files]) {
      const glob = `--glob=!/${path.replace(/[^\w/]/gu, '\\$&')}`;
      bytes += Buffer.byteLength(glob);
      if (bytes > MAX_ARGUMENT_BYTES) break;
      globs.push(glob);
    }
    return globs;
  }

  /** Each sentence about what was left out. */
  notes(): string[] {
    const folders = this.#folders.map(({ path, why }) => `${path} (${why})`).sort();
    const hasRepository = this.#folders.some(({ why }) => why === 'repository');
    const leftOut = [...this.#walk.notes, this.#walk.leftOut.note()].filter((note) => note !== undefined);
    return [
      ...leftOut.map((note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`),
      ...(this.#secrets.length > 0
        ? [
            `Not searched because their names suggest secrets: ${someNames(this.#secrets.sort())}. Use read_file to read one.`,
          ]
        : []),
      ...(folders.length > 0
        ? [
            `Folders not searched: ${someNames(folders)}.${hasRepository ? ' To search a repository, give it as path.' : ''}`,
          ]
        : []),
    ];
  }

  async #add(folder: WalkedFolder): Promise<void> {
    const prefix = folder.relative === '' ? '' : `${folder.relative}/`;
    for (const { name, type } of folder.entries)
      if (type === 'file' || type === 'symlink') this.paths.add(`${prefix}${name}`);
    if (this.#walk.pause.isDue()) await this.#walk.pause.wait();
    if (performance.now() > this.#deadlineMs) throw tooSlow();
    for (const { name, isFolder } of folder.entries) {
      if (!isFolder) continue;
      const below = await this.#walk.below(folder, name);
      if (below.note !== undefined) this.#folders.push({ path: below.relative, why: below.note });
      await this.#add(below);
      this.#walk.close(below);
    }
  }
}

function tooSlow(): BridgeError {
  return new BridgeError(
    'SEARCH_FAILED',
    'The files of the folder could not be listed in time.',
    'Search a smaller folder with path.',
  );
}
