import { z } from 'zod';
import { cursorText, readCursor } from '../base/cursor.js';
import { patchOptions, pathArguments } from './diff-options.js';
import { PatchPage, type PatchPart, type PatchPosition } from './patch-page.js';
import type { RepositoryGit } from './repository-git.js';
import { commitOf } from './revision.js';

export interface ChangesQuery {
  /** True: what is staged, against `base` or the last commit. Else the working tree, against `base` or the index. */
  readonly cached?: boolean;
  readonly base?: string;
  readonly cursor?: string;
  readonly maxBytes?: number;
}

export interface Changes extends Omit<PatchPart, 'next'> {
  readonly cursor: string | undefined;
}

export const START: PatchPosition = { offset: 0, mark: '' };
export const positionSchema = z.strictObject({ offset: z.int().min(1), mark: z.string().max(64) });

export async function readChanges(
  git: RepositoryGit,
  query: ChangesQuery & { readonly maxBytes: number },
  within: string | undefined,
): Promise<Changes> {
  const from = query.cursor === undefined ? START : readCursor(positionSchema, query.cursor);
  const base = query.base === undefined ? [] : [await commitOf(git, query.base)];
  const command = ['diff', ...(query.cached === true ? ['--cached'] : [])];
  const { next, ...part } = await readPatch(git, command, base, within, { from, maxBytes: query.maxBytes });
  return { ...part, cursor: next === undefined ? undefined : cursorText(next) };
}

/** `command` and `commits` say what is compared. */
export async function readPatch(
  git: RepositoryGit,
  command: readonly string[],
  commits: readonly string[],
  within: string | undefined,
  { from, maxBytes }: { readonly from: PatchPosition; readonly maxBytes: number },
): Promise<PatchPart> {
  const page = new PatchPage(from, maxBytes);
  const args = [...command, ...patchOptions, ...commits, ...pathArguments(within)];
  await git.stream(args, (chunk) => page.push(chunk));
  return page.finish();
}
