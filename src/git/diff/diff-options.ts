// Pure: the options that all diffs have in common.

/** One form whatever the user's or the repository's settings say, and nothing that runs a program. */
export const diffOptions: readonly string[] = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-relative',
  '--ignore-submodules=dirty',
  '--submodule=short',
  '--find-renames',
  '--diff-algorithm=default',
];

/** The form of a patch. */
export const patchOptions: readonly string[] = [
  ...diffOptions,
  '--patch',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--unified=3',
  '--inter-hunk-context=0',
];

/** Where a command is limited to a part of the repository. */
export function pathArguments(within: string | undefined): readonly string[] {
  return within === undefined ? ['--'] : ['--', within];
}
