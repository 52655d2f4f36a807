import type { WorkTree } from '../../git/worktree/work-tree.js';
import type { FolderWalk } from '../list/walk-folder.js';
import type { SearchPosition } from './search-page.js';
import type { Finder } from './search-query.js';

export type SearchEngine = 'rg' | 'own';

/** Where a search takes place. */
export interface SearchPlace {
  /** Shows all that may be searched, hidden names too. */
  readonly walk: FolderWalk;
  /** The same by ignore files alone, without asking git. */
  readonly roughWalk: FolderWalk;
  /** The real path of the folder. */
  readonly path: string;
  /** Leads to the folder itself. */
  readonly cwd: string;
  readonly hasDescriptorPaths: boolean;
  readonly engines: readonly SearchEngine[];
  /** False where ripgrep would apply other ignore files than the walk, or would wait for one. */
  readonly canUseRipgrep: boolean;
  /** False to search ignored files, too. */
  readonly readsIgnoreFiles: boolean;
  /** Ignore patterns that hold whatever the ignore files say. */
  readonly excludes: readonly string[];
  /** True with a `.git` in the folder or above. */
  readonly hasGitAbove: boolean;
  /** The part of a work tree that git sees there. Throws GIT_FAILED. */
  readonly workTree: () => Promise<WorkTree | undefined>;
  /** The environment of ripgrep. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeLimitMs: number;
}

/** A query that was checked. */
export interface Search extends Finder {
  readonly query: string;
  readonly isRegex: boolean;
  readonly context: number;
  readonly bytes: number;
  readonly takesPath: (path: string) => boolean;
  /** Matches up to here were on earlier pages. */
  readonly after: SearchPosition | undefined;
}
