import { patchOptions, pathArguments } from './diff-options.js';
import type { PatchPart } from './patch-page.js';
import { PatchReader, type Patch } from './patch.js';
import type { RepositoryGit } from '../run/repository-git.js';
import { commitOf } from '../revision.js';

export interface ChangesQuery {
  /** True compares the index with `base` or the last commit; false the working tree with `base` or the index. */
  readonly cached?: boolean | undefined;
  readonly base?: string | undefined;
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
}

/** A page of a patch. */
export interface Changes extends Omit<PatchPart, 'next'> {
  /** Cursor of this page itself, to request it again in another size. */
  readonly here: string;
  /** Cursor of the next page. */
  readonly cursor: string | undefined;
}

/** The whole patch. Throws REVISION_NOT_FOUND, and INVALID_ARGUMENTS for a bad `base`. */
export async function readChanges(
  git: RepositoryGit,
  query: ChangesQuery,
  within: string | undefined,
): Promise<Patch> {
  const base = query.base === undefined ? [] : [await commitOf(git, query.base)];
  return readPatch(git, ['diff', ...(query.cached === true ? ['--cached'] : [])], base, within);
}

/** The patch that a diff `command` prints for `commits`. */
export async function readPatch(
  git: RepositoryGit,
  command: readonly string[],
  commits: readonly string[],
  within: string | undefined | readonly string[],
): Promise<Patch> {
  const reader = new PatchReader();
  const args = [...command, ...patchOptions, ...commits, ...pathArguments(within)];
  await git.stream(args, (chunk) => reader.push(chunk));
  return reader.finish();
}
