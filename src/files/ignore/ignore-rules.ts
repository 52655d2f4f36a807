export interface NameInFolder {
  readonly name: string;
  readonly isFolder: boolean;
}

/** What of a folder's entries the ignore rules hide. Paths are relative to the folder that the rules were made for. */
export interface IgnoreRules {
  /** True in a repository: its nested repositories are then folders without content. */
  readonly isGit: boolean;
  /** What a reader must know of the rules, such as patterns that were left out. */
  readonly notes: readonly string[];
  /** The ignored ones among the names in `folder` (`''` or `a/b`), itself not ignored. `folderPath` leads to that folder. */
  ignored(folder: string, names: readonly NameInFolder[], folderPath: string): Promise<ReadonlySet<string>>;
}

/** Nothing is ignored. */
export const NO_RULES: IgnoreRules = {
  isGit: false,
  notes: [],
  ignored: () => Promise.resolve(new Set()),
};
