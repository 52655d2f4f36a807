import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { fileStamp } from './file-stamp.js';
import { gitSaysWorkTree, hasGitAbove, type GitRun } from './git-listing.js';

/** Folders that are remembered; beyond that all are forgotten. */
const MAX_FOLDERS = 256;
/** Which folders git takes for part of a work tree. A start of git takes 5 ms, so its yes holds while what it looked at is as it was. */
export class WorkTrees {
  readonly #stamps = new Map<string, string>();

  /** `run` runs in the folder at `path`. */
  async has(run: GitRun, path: string): Promise<boolean> {
    if (!hasGitAbove(path)) return false;
    const stamp = stampOf(path);
    if (stamp !== undefined && this.#stamps.get(path) === stamp) return true;
    const isOne = await gitSaysWorkTree(run);
    if (this.#stamps.size >= MAX_FOLDERS) this.#stamps.clear();
    if (isOne && stamp !== undefined) this.#stamps.set(path, stamp);
    else this.#stamps.delete(path);
    return isOne;
  }

  /** For when git says otherwise after all: the user's settings have a say, too. */
  forget(): void {
    this.#stamps.clear();
  }
}

/** Of each `.git` folder at `path` and above what git looks at. Undefined where one points elsewhere, or is none. */
function stampOf(path: string): string | undefined {
  const stamps: string[] = [];
  for (let folder = path; ; folder = dirname(folder)) {
    const git = join(folder, '.git');
    const found = stampAt(git);
    if (found !== undefined) {
      const head = stampAt(join(git, 'HEAD'));
      if (head === undefined) return undefined;
      stamps.push(git, found, head, stampAt(join(git, 'config')) ?? '');
    }
    if (folder === dirname(folder)) return stamps.join('\n');
  }
}

function stampAt(place: string): string | undefined {
  try {
    const stats = lstatSync(place, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? undefined : fileStamp(stats);
  } catch (thrown) {
    // What cannot be looked at, git cannot open either.
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
