export interface NameInFolder {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Decides which entries of a folder are ignored. Paths are relative to the folder that the rules were created for. */
export interface IgnoreRules {
  /** True in a repository, where nested repositories are shown without their contents. */
  readonly isGit: boolean;
  /** Notes for the caller about the rules, such as patterns that were left out. */
  readonly notes: readonly string[];
  /** True when everything is ignored, and a note says so. */
  readonly ignoresAll?: boolean;
  /** The ignored ones of the names in `folder` (`''` or `a/b`), which is not ignored itself. `folderPath` opens that folder. */
  ignored(folder: string, names: readonly NameInFolder[], folderPath: string): Promise<ReadonlySet<string>>;
}

/** Nothing is ignored. */
export const NO_RULES: IgnoreRules = {
  isGit: false,
  notes: [],
  ignored: () => Promise.resolve(new Set()),
};
