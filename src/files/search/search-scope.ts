// Pure.
import type { WorkTree } from '../../git/worktree/work-tree.js';
import type { FolderWalk } from '../list/walk-folder.js';
import type { SearchPosition } from './search-page.js';
import type { Finder } from './search-query.js';

export type SearchEngine = 'rg' | 'own';

/** The folder of a search, and the means to search it. */
export interface SearchScope {
  /** Shows every file to search, including hidden names. */
  readonly walk: FolderWalk;
  /** Like `walk`, but with ignore files only, without running git. */
  readonly roughWalk: FolderWalk;
  /** The real path of the folder. */
  readonly path: string;
  /** A path through the open descriptor of the folder. */
  readonly cwd: string;
  readonly hasDescriptorPaths: boolean;
  readonly engines: readonly SearchEngine[];
  /** False when ripgrep would apply other ignore files than the walk, or would block on one. */
  readonly canUseRipgrep: boolean;
  /** False to search ignored files, too. */
  readonly readsIgnoreFiles: boolean;
  /** Additional ignore patterns, whatever the ignore files contain. */
  readonly excludes: readonly string[];
  /** True when `.git` exists in the folder or above. */
  readonly hasGitAbove: boolean;
  /** The working tree that contains the folder. Throws GIT_FAILED. */
  readonly workTree: () => Promise<WorkTree | undefined>;
  /** The environment of ripgrep. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeLimitMs: number;
}

/** A checked query. */
export interface Search extends Finder {
  readonly query: string;
  readonly isRegex: boolean;
  readonly context: number;
  readonly bytes: number;
  readonly matchesGlob: (path: string) => boolean;
  /** Matches up to here were on earlier pages. */
  readonly after: SearchPosition | undefined;
}
