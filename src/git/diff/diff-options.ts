// Pure: the options of all diffs.

/** They make the output independent of settings and prevent git from running programs. */
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

/** The options of a patch. */
export const patchOptions: readonly string[] = [
  ...diffOptions,
  '--patch',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--unified=3',
  '--inter-hunk-context=0',
];

/** Limits a command to a part of the repository. */
export function pathArguments(within: string | undefined | readonly string[]): readonly string[] {
  return ['--', ...(within === undefined ? [] : [within].flat())];
}
