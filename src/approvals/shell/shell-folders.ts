// Pure: in which folders a command may run.
import { resolve } from 'node:path';
import type { ShellPart } from './shell-part.js';

/** Folders in which a command may run; with more, nobody can say. */
const MAX_FOLDERS = 16;

/** Where the next command runs, if the one before went well, and if not. */
export interface Folders {
  readonly afterOk: readonly string[] | undefined;
  readonly afterFault: readonly string[] | undefined;
}

/** Only `cd` with a plain folder is followed; after anything else that moves, nobody can say. */
export function foldersAfter(
  { words, assignments }: ShellPart,
  folders: readonly string[] | undefined,
): Folders {
  const [name, target, more] = words;
  const moves = ['cd', 'pushd', 'popd', 'eval', 'source', '.', 'builtin', 'command'];
  if (name === undefined || (name.kind === 'literal' && !moves.includes(name.value))) return same(folders);
  const isPlain =
    name.value === 'cd' &&
    assignments.length === 0 &&
    more === undefined &&
    target?.kind === 'literal' &&
    !target.hasTilde &&
    !target.value.startsWith('-') &&
    target.value !== '';
  if (!isPlain) return { afterOk: undefined, afterFault: folders };
  return { afterOk: folders?.map((folder) => resolve(folder, target.value)), afterFault: folders };
}

/** Nothing moved. */
export function same(folders: readonly string[] | undefined): Folders {
  return { afterOk: folders, afterFault: folders };
}

/** Undefined when one of them is not known, or when there are too many. */
export function union(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return undefined;
  const both = [...new Set([...one, ...other])];
  return both.length > MAX_FOLDERS ? undefined : both;
}
